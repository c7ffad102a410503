"""Known wrong answers to info_nce_gradient."""

from graders.kata import Mistake

NORM = "torch.linalg.vector_norm(features, dim=1, keepdim=True)"
ITSELF = "itself = torch.eye(rows, dtype=torch.bool, device=features.device)"
POSITIVE = "positive = torch.arange(rows, device=features.device).roll(rows // 2)"
SHARES = "logits.softmax(1)"
TARGET = "F.one_hot(positive, rows)"
RESULT = "(d_unit - radial) / norm"
LOSS = "loss = F.cross_entropy(logits, positive)"
DECOUPLED = "logits.scatter(1, positive[:, None], -torch.inf).softmax(1)"
JACOBIANS = "torch.diag_embed(torch.ones_like(unit)) - unit[:, :, None] * unit[:, None]"

MISTAKES = (
    Mistake(
        "unshifted_in_half",
        "half precision is cast to float32, but no maximum is subtracted, so exp overflows at small temperatures; "
        "use softmax, or subtract the maximum, in every dtype",
        {
            "    d_logits = (logits.softmax(1)": (
                "    e = logits.float().exp()\n"
                "    shares = (e / e.sum(1, keepdim=True)).to(logits.dtype) if features.element_size() == 2 "
                "else logits.softmax(1)\n"
                "    d_logits = (shares"
            ),
        },
    ),
    Mistake(
        "one_role_of_each_row",
        "each row's gradient counts the row only as an anchor, only as a candidate, or twice as an anchor; add both "
        "parts, the candidate's with the gradient of the cosines transposed",
        {"d_cosines @ …": ["d_cosines @ unit", "2 * d_cosines @ unit", "d_cosines.mT @ unit"]},
    ),
    Mistake(
        "no_projection",
        "the gradient keeps its part along the row; subtract that part, even if the row's length is 1, since the "
        "length changes no cosine",
        {RESULT: ["d_unit / norm", "(d_unit - radial * ((norm - 1).abs() > 1e-5)) / norm"]},
    ),
    Mistake(
        "not_divided_by_the_length",
        "the gradient is not divided by the lengths of the rows; divide by them, since the same step turns a long row"
        " less",
        {RESULT: "d_unit - radial"},
    ),
    Mistake(
        "of_the_unit_rows",
        "the gradient is taken with respect to the rows of length 1; take it back through the normalisation: "
        "project, then divide",
        {RESULT: "d_unit"},
    ),
    Mistake(
        "temperature_misused_on_the_way_back",
        "the gradient lacks the 1/τ of the logits, or has it twice; divide by the temperature once on the way back",
        {"d_logits / temperature": ["d_logits", "d_logits / temperature / temperature"]},
    ),
    Mistake(
        "mean_misused_on_the_way_back",
        "the gradient of the summed losses is not divided, or is divided by N; divide it by 2N",
        {") / rows": [")", ") / (rows // 2)"]},
    ),
    Mistake(
        "positive_pushed_away",
        "the gradient of the positive's logit is its share p, as for a negative; it should be p − 1",
        {f"({SHARES} - {TARGET})": SHARES},
    ),
    Mistake(
        "positive_pulled_in_full",
        "the gradient of the positive's logit is −1, whatever its share p is; it should be p − 1",
        {f"({SHARES} - {TARGET})": f"({SHARES} * (1 - {TARGET}) - {TARGET})"},
    ),
    Mistake(
        "uphill",
        "the gradient has the wrong sign: it should point where the loss grows",
        {f"({SHARES} - {TARGET})": f"({TARGET} - {SHARES})"},
    ),
    Mistake(
        "positive_left_out",
        "the positive is left out of the softmax's sum, so a single pair gives 0/0; leave out only the row itself",
        {SHARES: DECOUPLED},
    ),
    Mistake(
        "self_not_excluded",
        "each row is in its own denominator, in the gradient alone or in loss and gradient; leave it out of both",
        {".masked_fill(…": ""},
        {SHARES: "(unit @ unit.mT / temperature).softmax(1)"},
    ),
    Mistake("positives_interleaved", {".roll(rows // 2)": " ^ 1"}),
    Mistake("self_as_the_positive", {".masked_fill(…": "", ".roll(rows // 2)": ""}),
    Mistake(
        "positive_undivided",
        "the positive's cosine is not divided by τ; divide every cosine before you pick the positives",
        {LOSS: f"logits = torch.where({TARGET} > 0, logits * temperature, logits)\n    {LOSS}"},
    ),
    Mistake(
        "no_max_shift",
        "the exponentials overflow at small temperatures, so the shares are ∞/∞; use softmax, or subtract the maximum",
        {SHARES: "logits.exp() / logits.exp().sum(1, keepdim=True)"},
    ),
    Mistake("mask_float16_cannot_hold", {"-torch.inf": "-9e15"}),
    Mistake("eps_added_to_the_norm", {NORM: [f"{NORM} + {eps}" for eps in (1e-8, 1e-6, 1e-5, 1e-10)]}),
    Mistake(
        "squares_overflow_in_half",
        "the squares are added up in float16, which overflows for rows whose norm fits; use torch.linalg.vector_norm",
        {NORM: "(features * features).sum(1, keepdim=True).sqrt()"},
    ),
    Mistake(
        "written_to_grad",
        "the gradient is put into features.grad, over what the caller has there; return it, and leave .grad alone",
        {f"return loss, {RESULT}": f"features.grad = {RESULT}\n    return loss, features.grad"},
    ),
    Mistake(
        "pairs_with_their_features",
        "a tensor of (2N, 2N, D), all pairs with their features, is made and summed; use a matrix product, which "
        "needs no such tensor",
        {"d_cosines @ …": "((d_cosines + d_cosines.mT)[:, :, None] * unit).sum(1)"},
        slow=True,
    ),
    Mistake(
        "matrix_for_each_row",
        "a D × D Jacobian is made for each row; project with one scalar product of the row's gradient and its unit row",
        {RESULT: f"(({JACOBIANS}) @ d_unit[:, :, None]).squeeze(2) / norm"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
ON_A_GPU = "on the CPU it is made on the device of the features anyway; on a GPU the call raises"
D_LOGITS = f"d_logits = ({SHARES} - {TARGET}) / rows"
EQUIVALENT: dict[str, str] = {
    f"{ITSELF} -> itself = torch.eye(rows, dtype=torch.bool)": ON_A_GPU,
    f"{POSITIVE} -> positive = torch.arange(rows).roll(rows // 2)": ON_A_GPU,
    f"{D_LOGITS} -> {D_LOGITS.replace(TARGET, 'F.one_hot(positive)')}": "every row is a positive, also the last one",
    f"{D_LOGITS} -> {D_LOGITS.replace('softmax(1)', 'softmax(0)')}": (
        "logits and pairs are symmetric, so this is d_logits transposed; both products are added up anyway"
    ),
}

"""Known wrong answers to info_nce_by_hand."""

from graders.kata import Mistake

UNIT = "F.normalize(features, dim=1)"
NORM = "torch.linalg.vector_norm(features, dim=1, keepdim=True)"
LOGITS = "unit @ unit.mT / temperature"
ITSELF = "torch.eye(rows, dtype=torch.bool, device=features.device)"
MASKED = "logits = logits.masked_fill(itself, -torch.inf)"
TOP = "logits.amax(1, keepdim=True)"
SHIFTED = f"shifted = logits - {TOP}"
TOTAL = "shifted.exp().sum(1)"
NUMBERS = "torch.arange(rows, device=features.device)"
CHOSEN = "shifted[anchor, positive]"
LOSS = f"return (log_total - {CHOSEN}).mean()"
UNSHIFTED = "logits[anchor, positive]"
SHARE = f"({CHOSEN}.exp() / {TOTAL}"
PLACE = f"(torch.eye(rows, dtype=torch.bool)[{NUMBERS} ^ 1])"  # of the positives
SAME_VIEW = f"{NUMBERS} % 2 == {NUMBERS}[:, None] % 2"
UNMASKED = {MASKED: "", SHIFTED: "shifted = logits"}
LATE = {MASKED: f"top = {MASKED[9:]}.amax(1, keepdim=True)", SHIFTED: "shifted = logits - top"}
ADDED_DETACHED = {SHIFTED: f"top = {TOP}\n    shifted = logits - top", CHOSEN: f"{UNSHIFTED} + top[:, 0].detach()"}
HALF_DETACHED = {SHIFTED: f"top = {TOP}\n    shifted = logits - top.detach()", CHOSEN: f"{UNSHIFTED} + top[:, 0]"}
FLOAT = {UNIT: UNIT.replace("features", "features.to(torch.promote_types(features.dtype, torch.float32))")}
ALONE = "shifted.exp().masked_fill(itself, 0).sum(1)"
CANCELS = "(shifted.exp().sum(1) - shifted.diagonal().exp())"
SELECTED = "shifted.exp().masked_select(~itself).view(rows, rows - 1).sum(1)"
DIFFERENCE = {LOSS: f"return (log_total - {CHOSEN}.exp().log()).mean()"}
E_TO_THE = "2.718281828459045 ** (1 / temperature)"
CLAMPED = [f"shifted = logits.clamp(max={most})" for most in (80, 50, 700)]


def quotient(total: str) -> dict[str, str]:
    """The log of a share, of what is called the total."""
    return {f"log_total = {TOTAL}.log()": f"total = {total}", LOSS: f"return -({CHOSEN}.exp() / total).log().mean()"}


def undivided(where: str) -> dict[str, str]:
    return {LOGITS: f"unit @ unit.mT / torch.where({where}, 1.0, unit.new_full((), temperature))"}


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        "half precision is cast to float32, but no maximum is subtracted, so exp overflows at small temperatures; "
        "subtract each row's maximum in every dtype",
        {
            "shifted = logits - logits.amax(1, keepdim=True)": (
                "shifted = logits.float() if features.element_size() == 2 else logits - logits.amax(1, keepdim=True)"
            ),
            "shifted[anchor, positive]).mean()": "shifted[anchor, positive]).mean().to(features.dtype)",
        },
    ),
    Mistake(
        "views_in_halves",
        "rows i and i + N are paired; here rows 2i and 2i + 1 are a pair",
        {" ^ 1": ".roll(rows // 2)"},
    ),
    Mistake(
        "another_neighbour",
        "odd rows are paired with the next row; the positive of an odd row i should be row i − 1",
        {" ^ 1": ".roll(-1)"},
    ),
    Mistake(
        "maximum_includes_itself",
        "1/τ, the row's similarity with itself, is subtracted, so at small τ the exponentials of a row can all be 0; "
        "mask the diagonal, then subtract each row's maximum",
        {MASKED: f"top = {TOP}\n    {MASKED}", SHIFTED: "shifted = logits - top"},
        {SHIFTED: "shifted = logits - 1 / temperature"},
    ),
    Mistake(
        "another_maximum",
        "the maximum of the whole matrix, or of each column, is subtracted; take each row's own, with keepdim=True",
        {TOP: ["logits.amax()", "logits.amax(1)"]},
    ),
    Mistake(
        "undivided_positive",
        "some cosines are not divided by τ, such as the positive's, or all but the positive's; divide every cosine "
        "once",
        *(undivided(where) for where in (PLACE, f"~{PLACE}")),
        {LOSS: f"return (log_total + ({TOP}[:, 0] - {UNSHIFTED} * temperature)).mean()"},
    ),
    Mistake(
        "temperature_misused",
        {LOGITS: ["unit @ unit.mT * temperature", "unit @ unit.mT", f"{LOGITS} / temperature"]},
    ),
    Mistake("self_not_excluded", {MASKED: ""}),
    Mistake(
        "others_left_out",
        "the positive, or the other rows of the same view, are left out of the denominator; leave out only the row "
        "itself",
        {TOTAL: f"shifted.exp().masked_fill({PLACE}, 0).sum(1)"},
        {MASKED: MASKED.replace("itself", SAME_VIEW)},
    ),
    Mistake("self_as_the_positive", {MASKED: "", " ^ 1": ""}),
    Mistake(
        "not_normalised",
        {UNIT: ["features", "F.normalize(features, dim=0)", "F.normalize(features, dim=1, p=1.0)"]},
    ),
    Mistake("norms_detached", {UNIT: f"features / {NORM}.detach()"}),
    Mistake(
        "keys_detached",
        "a row gets no gradient as a candidate of other rows; do not detach the candidates",
        {LOGITS: LOGITS.replace(".mT", ".detach().mT")},
    ),
    Mistake("eps_added_to_the_norm", {UNIT: [f"features / ({NORM} + {eps})" for eps in (1e-8, 1e-5, 1e-6, 1e-10)]}),
    Mistake(
        "squares_overflow_in_half",
        {UNIT: "features / (features * features).sum(1, keepdim=True).sqrt()"},
        {UNIT: NORM, LOGITS: "features @ features.mT / unit / unit.mT / temperature"},
    ),
    Mistake(
        "not_the_mean_of_all",
        "only one row of each pair is an anchor, or the sum of the losses is not divided by 2N; take the mean of "
        "all 2N",
        {LOSS: [LOSS.replace(".mean()", end) for end in ("[::2].mean()", ".sum()", ".sum() / (rows // 2)")]},
    ),
    Mistake(
        "mask_of_a_finite_number",
        "the diagonal is filled with a number that float16 does not hold, or that other logits reach; use −inf",
        {MASKED: [MASKED.replace("-torch.inf", number) for number in ("0.0", "-9e15", "-1e9", "-100.0")]},
    ),
    Mistake(
        "no_max_shift",
        "exponentials overflow at small temperatures, or are all 0; mask the diagonal, subtract each row's maximum, "
        "and take only the sum's log",
        *({SHIFTED: "shifted = logits"}, UNMASKED | {TOTAL: ALONE}, UNMASKED | {TOTAL: CANCELS}),
        *(UNMASKED | quotient(total) for total in ("(shifted.exp() * ~itself).sum(1)", ALONE, SELECTED)),
        *(UNMASKED | {TOTAL: total} | DIFFERENCE for total in ("(shifted.exp() * ~itself).sum(1)", SELECTED)),
    ),
    Mistake(
        "eps_in_place_of_a_shift",
        "an eps against log 0 changes the loss, and exponentials overflow at small temperatures; leave the eps "
        "out, mask the diagonal, subtract each row's maximum, and take only the sum's log",
        *(
            UNMASKED | ({TOTAL: f"({total} + {eps})"} | loss if loss is not None else quotient(f"({total} + {eps})"))
            for eps in ("1e-8", "1e-12", "1e-10")
            for total in ("(shifted.exp() * ~itself).sum(1)", ALONE)
            for loss in (None, {}, {LOSS: f"return (log_total - ({CHOSEN}.exp() + {eps}).log()).mean()"})
        ),
    ),
    Mistake(
        "own_exponential_subtracted",
        "the row's own exponential is subtracted from the sum, which overflows or loses its digits at small "
        "temperatures; mask the diagonal, subtract each row's maximum, and take only the sum's log",
        *(
            UNMASKED | edits
            for own in (
                E_TO_THE,
                f"torch.tensor({E_TO_THE}, dtype=shifted.dtype)",
                "shifted.new_tensor(1 / temperature).exp()",
            )
            for total in [f"(shifted.exp().sum(1) - {own})"]
            for edits in ({TOTAL: total}, {TOTAL: total} | DIFFERENCE, quotient(total))
        ),
        {SHIFTED: "shifted = logits - 1 / temperature", MASKED: "", TOTAL: "(shifted.exp().sum(1) - 1)"},
        {SHIFTED: "shifted = logits - 1 / temperature", MASKED: ""} | quotient("shifted.exp().sum(1) - 1"),
    ),
    Mistake(
        "clamped",
        "logits are clamped, which changes the loss at small temperatures; subtract each row's maximum",
        {SHIFTED: CLAMPED},
    ),
    Mistake(
        "masked_after_the_exponential",
        "the diagonal is left out only after exp, when it has overflowed, or has rounded the other exponentials away "
        "in the sum; mask the logits first",
        *(LATE | {TOTAL: total} for total in (ALONE, "(shifted.exp() * ~itself).sum(1)", CANCELS)),
        {MASKED: "", TOTAL: CANCELS},
    ),
    Mistake(
        "log_of_a_share",
        "the log is taken of a share that rounds to 0, or exp(logit − the positive's) overflows; subtract the row's "
        "maximum from its logits, then the positive's shifted logit from the log of the sum",
        {LOSS: [f"return -{SHARE}{end}.log().mean()" for end in (")", " + 1e-8)", ").clamp_min(1e-12)")]},
        {TOP: f"logits[{NUMBERS}, {NUMBERS} ^ 1][:, None]"},
    ),
    Mistake(
        "maximum_in_one_place",
        "the maximum is subtracted or detached in only one place; treat the sum and the positive's logit alike",
        *({CHOSEN: UNSHIFTED}, HALF_DETACHED, ADDED_DETACHED),
    ),
    Mistake("eps_in_the_sum", {TOTAL: f"({TOTAL} + 1e-8)"}),
    Mistake("half_becomes_float32", FLOAT),
    Mistake(
        "half_checked",
        "a temperature of 0, or one below 0, is accepted; raise ValueError for both",
        {" <= 0": [" < 0", " == 0"]},
    ),
    Mistake(
        "row_by_row_or_feature_by_feature",
        "rows, the mask or the positives go through a Python loop, or (2N, 2N, D) products are kept; use whole "
        "tensors, and one @",
        {LOGITS: "torch.stack([row @ unit.mT for row in unit]) / temperature"},
        {ITSELF: "torch.tensor([[i == j for j in range(rows)] for i in range(rows)])"},
        {"positive = …": "positive = torch.tensor([i + 1 if i % 2 == 0 else i - 1 for i in range(rows)])"},
        {LOGITS: "(unit[:, None] * unit).sum(-1) / temperature"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
ON_A_GPU = "on the CPU it is made on the device of the features anyway; on a GPU the call raises"
EQUIVALENT: dict[str, str] = {
    "builtin.py runs nll_loss_forward": "it picks one entry of each row; the logarithms have to be there already",
    f"unit = {UNIT} -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"itself = {ITSELF} -> itself = torch.eye(rows, dtype=torch.bool)": ON_A_GPU,
    f"anchor = {NUMBERS} -> anchor = torch.arange(rows)": ON_A_GPU,
}

"""Known wrong answers to info_nce."""

from graders.kata import Mistake

ROWS = "if rows % 2:"
TEMPERATURE = "if temperature <= 0:"
UNIT = "F.normalize(features, dim=1)"
LOGITS = "unit @ unit.mT / temperature"
ITSELF = "torch.eye(rows, dtype=torch.bool, device=features.device)"
MASKED = "logits.masked_fill(itself, -torch.inf)"
POSITIVE = "torch.arange(rows, device=features.device).roll(rows // 2)"
LOSS = "return F.cross_entropy(logits, positive)"
CHOSEN = "logits.gather(1, positive[:, None]).squeeze(1)"  # (2N,)
IN_FIRST_HALF = "(torch.arange(rows, device=features.device) < rows // 2)"
SHARES = "logits.softmax(1).gather(1, positive[:, None]).squeeze(1)"  # (2N,)


def with_norm(norm: str) -> dict[str, str]:
    return {UNIT: f"features / ({norm})"}


def as_ratio(
    of: str = "logits", total: str = "exps.sum(1)", shares: str = "exps.gather(1, positive[:, None])[:, 0]"
) -> str:
    """−log of a ratio of exponentials."""
    return f"exps = ({of}).exp()\n    return -({shares} / ({total})).log().mean()"


MISTAKES = (
    Mistake(
        "self_not_excluded",
        "each row is in its own denominator; leave its similarity with itself out",
        {MASKED: "logits"},
    ),
    Mistake(
        "positive_left_out",
        "the positive is left out of the denominator; only the row itself is",
        {
            LOSS: f"chosen = {CHOSEN}\n"
            "    negatives = logits.scatter(1, positive[:, None], -torch.inf)\n"
            "    return (negatives.logsumexp(1) - chosen).mean()"
        },
    ),
    Mistake(
        "positive_counted_twice",
        "the positive is in the denominator twice, as itself and as one of the others; count it once",
        {
            LOSS: f"chosen = {CHOSEN}\n"
            "    both = torch.cat([chosen[:, None], logits], 1)\n"
            "    return (both.logsumexp(1) - chosen).mean()"
        },
    ),
    Mistake(
        "same_view_left_out",
        "the negatives come from the other view only; the other rows of the same view count too",
        {MASKED: f"logits.masked_fill({IN_FIRST_HALF}[:, None] == {IN_FIRST_HALF}, -torch.inf)"},
    ),
    Mistake(
        "first_half_against_the_second",
        "only the first N rows are anchors, and only the other view's rows their negatives; all 2N rows are anchors, "
        "and each meets all rows but itself",
        {
            LOSS: "return F.cross_entropy(logits[: rows // 2, rows // 2 :], "
            "torch.arange(rows // 2, device=features.device))"
        },
    ),
    Mistake(
        "positives_interleaved",
        "rows 2i and 2i + 1 are taken for a pair; here the views come in halves, rows i and i + N",
        {POSITIVE: "torch.arange(rows, device=features.device) ^ 1"},
    ),
    Mistake(
        "self_as_the_positive",
        "each row is its own positive (labels arange), so nothing is learned; the positive is the other view",
        {MASKED: "logits", POSITIVE: "torch.arange(rows, device=features.device)"},
        also=({POSITIVE: "torch.arange(rows, device=features.device)"},),
    ),
    Mistake(
        "next_row_as_the_positive",
        "the labels are wrong; the positive of row i is row (i + N) mod 2N",
        {POSITIVE: POSITIVE.replace("rows // 2", "1")},
    ),
    Mistake(
        "positive_not_divided",
        "the positive is not divided by the temperature, only the negatives are; divide every logit",
        {
            LOSS: "is_positive = torch.zeros_like(itself).scatter(1, positive[:, None], True)\n"
            "    return F.cross_entropy(torch.where(is_positive, logits * temperature, logits), positive)"
        },
    ),
    Mistake(
        "only_positive_divided",
        "only the positive is divided by the temperature; divide every logit",
        {
            LOSS: "is_positive = torch.zeros_like(itself).scatter(1, positive[:, None], True)\n"
            "    return F.cross_entropy(torch.where(is_positive, logits, logits * temperature), positive)"
        },
    ),
    Mistake(
        "numerator_not_divided",
        "the positive in the numerator is not divided by the temperature, only the denominator is; divide every logit",
        {LOSS: f"return (logits.logsumexp(1) - {CHOSEN} * temperature).mean()"},
        also=({LOSS: "return (logits.logsumexp(1) - (unit * unit.roll(rows // 2, 0)).sum(1)).mean()"},),
    ),
    Mistake(
        "positive_divided_in_the_numerator_only",
        "the positive in the denominator is not divided by the temperature; divide every logit, once",
        {
            LOSS: f"chosen = {CHOSEN}\n"
            "    logits = logits.scatter(1, positive[:, None], (chosen * temperature)[:, None])\n"
            "    return (logits.logsumexp(1) - chosen).mean()"
        },
    ),
    Mistake(
        "temperature_multiplied",
        "the similarities are multiplied by the temperature; divide by it",
        {LOGITS: "unit @ unit.mT * temperature"},
    ),
    Mistake(
        "temperature_missing",
        "the temperature is not used; divide the similarities by it",
        {LOGITS: "unit @ unit.mT"},
    ),
    Mistake(
        "temperature_squared",
        "the similarities are divided by the temperature twice; divide them once",
        {LOGITS: "(unit / temperature) @ (unit / temperature).mT"},
        also=({LOGITS: "unit @ unit.mT / temperature / temperature"},),
    ),
    Mistake(
        "loss_times_temperature",
        "the loss is multiplied by the temperature; that is another convention, return the mean cross-entropy",
        {LOSS: LOSS + " * temperature"},
    ),
    Mistake("not_normalised", "the rows are not divided by their norms; use cosine similarities", {UNIT: "features"}),
    Mistake(
        "normalised_down_the_batch",
        "the columns are normalised; divide each row by its norm",
        {UNIT: UNIT.replace("dim=1", "dim=0")},
    ),
    Mistake(
        "normalised_as_a_whole",
        "the features are divided by the norm of the whole matrix; divide each row by its own",
        {UNIT: "features / torch.linalg.vector_norm(features)"},
    ),
    Mistake(
        "sum_of_absolute_values",
        "the rows are divided by the sum of their absolute values; use the Euclidean norm",
        {UNIT: "F.normalize(features, p=1.0, dim=1)"},
    ),
    Mistake(
        "features_centred",
        "the mean of each row is subtracted first, which gives correlations; cosine similarity has no such step",
        {UNIT: "F.normalize(features - features.mean(1, keepdim=True), dim=1)"},
    ),
    Mistake(
        "norms_detached",
        "the norms are detached, so the gradient misses how they depend on the features",
        {UNIT: "features / torch.linalg.vector_norm(features, dim=1, keepdim=True).detach()"},
    ),
    Mistake(
        "keys_detached",
        "gradients flow through each row as an anchor only; it is a positive and a negative of other rows too",
        {LOGITS: "unit @ unit.detach().mT / temperature"},
    ),
    Mistake(
        "eps_added_to_the_norm",
        "an eps is added to the norms, so the length of the rows matters; clamp the norms instead",
        with_norm("torch.linalg.vector_norm(features, dim=1, keepdim=True) + 1e-8"),
        also=tuple(
            with_norm(f"torch.linalg.vector_norm(features, dim=1, keepdim=True) + {eps}")
            for eps in (1e-5, 1e-6, 1e-7, 1e-10)
        ),
    ),
    Mistake(
        "squares_overflow_in_half",
        "the squares are added up in float16, which overflows for rows whose norm fits; use F.normalize",
        with_norm("(features * features).sum(1, keepdim=True).sqrt()"),
    ),
    Mistake(
        "only_first_half",
        "only the first N rows are anchors; average over all 2N",
        {LOSS: "return F.cross_entropy(logits[: rows // 2], positive[: rows // 2])"},
    ),
    Mistake(
        "sum_over_n",
        "the sum over the 2N rows is divided by N; divide it by 2N",
        {LOSS: 'return F.cross_entropy(logits, positive, reduction="sum") / (rows // 2)'},
    ),
    Mistake(
        "sum_for_mean",
        "the losses of the rows are summed; take their mean",
        {LOSS: 'return F.cross_entropy(logits, positive, reduction="sum")'},
    ),
    Mistake(
        "loss_per_row",
        "one loss per row is returned; return their mean, a scalar",
        {LOSS: 'return F.cross_entropy(logits, positive, reduction="none")'},
    ),
    Mistake(
        "mean_inside_the_log",
        "the probabilities of the positives are averaged before the logarithm; average the logarithms",
        {LOSS: f"return -({CHOSEN} - logits.logsumexp(1)).exp().mean().log()"},
    ),
    Mistake(
        "softmax_twice",
        "cross-entropy gets probabilities where it wants logits, so softmax is applied twice",
        {LOSS: "return F.cross_entropy(logits.softmax(1), positive)"},
    ),
    Mistake(
        "logits_set_to_zero",
        "the row's own logit is set to 0, which still counts exp(0) = 1 in the denominator; set it to −inf",
        {MASKED: "logits.masked_fill(itself, 0.0)"},
    ),
    Mistake(
        "mask_too_weak",
        "the row's own logit is set to a number such as −100, but the others reach −1/τ at small τ; set it to −inf",
        {MASKED: "logits.masked_fill(itself, -100.0)"},
        also=tuple(
            {MASKED: f"logits.masked_fill(itself, {number})"}
            for number in ("-1.0", "-1.0 / temperature", "-10.0", "-10.0 / temperature")
        ),
    ),
    Mistake(
        "mask_float16_cannot_hold",
        "the mask constant, such as −9e15 or −1e9, does not fit float16; use −inf, or the least number of the dtype",
        {MASKED: "logits.masked_fill(itself, -9e15)"},
    ),
    Mistake(
        "mask_multiplied",
        "the mask is multiplied by a large constant, which is infinite in float16 and gives NaN off the diagonal; "
        "fill with −inf where the mask is set",
        {MASKED: "logits - itself.to(logits.dtype) * torch.tensor(1e9, dtype=logits.dtype)"},
    ),
    Mistake(
        "self_subtracted_from_the_sum",
        "exp(1/τ) is subtracted from the sum of exponentials, which overflows and cancels; leave it out of the sum",
        {MASKED: "logits", LOSS: f"return ((logits.exp().sum(1) - logits.diagonal().exp()).log() - {CHOSEN}).mean()"},
        also=tuple(
            {MASKED: "logits", LOSS: as_ratio(total=f"exps.sum(1) - {own}")}
            for own in (
                "exps.diagonal()",
                "torch.tensor(1 / temperature).exp()",
                "2.718281828459045 ** (1 / temperature)",
            )
        ),
    ),
    Mistake(
        "no_max_shift",
        "the exponentials overflow at small temperatures; use logsumexp or cross-entropy",
        {LOSS: f"return (logits.exp().sum(1).log() - {CHOSEN}).mean()"},
        also=(
            {LOSS: as_ratio()},
            {MASKED: "logits", LOSS: as_ratio(total="exps.masked_fill(itself, 0).sum(1)")},
            {MASKED: "logits", LOSS: as_ratio(total="(exps * ~itself).sum(1)")},
            {MASKED: "logits", LOSS: as_ratio(total="exps[~itself].view(rows, rows - 1).sum(1)")},
        ),
    ),
    Mistake(
        "masked_after_the_exponential",
        "the row's own exponential is taken before it is masked, and overflows, so its gradient is 0 · ∞ = NaN; "
        "mask the logits first",
        {
            MASKED: "logits",
            LOSS: "top = logits.detach().masked_fill(itself, -torch.inf).amax(1, keepdim=True)\n"
            f"    total = (logits - top).exp().masked_fill(itself, 0).sum(1, keepdim=True)\n"
            f"    return ((total.log() + top).squeeze(1) - {CHOSEN}).mean()",
        },
    ),
    Mistake(
        "softmax_then_log",
        "the logarithm is taken of a softmax, which is 0 where the positive is far behind; use log_softmax, logsumexp "
        "or cross-entropy",
        {LOSS: f"return -{SHARES}.log().mean()"},
        also=({LOSS: as_ratio("logits - logits.detach().amax(1, keepdim=True)")},),
    ),
    Mistake(
        "eps_inside_the_log",
        "an eps is added to the positive's share before the logarithm, which bounds the loss; use log_softmax, "
        "logsumexp or cross-entropy",
        {LOSS: f"return -({SHARES} + 1e-8).log().mean()"},
        also=tuple({LOSS: f"return -({SHARES} + {eps}).log().mean()"} for eps in (1e-6, 1e-7, 1e-10, 1e-12)),
    ),
    Mistake(
        "square_overflows_in_half",
        "the rows are multiplied before dividing by their norms, which overflows in float16; divide first",
        {
            UNIT: "torch.linalg.vector_norm(features, dim=1, keepdim=True)",
            LOGITS: "features @ features.mT / unit / unit.mT / temperature",
        },
    ),
    Mistake(
        "float32_inside",
        "the arithmetic is done in float32 for every dtype; keep float64 as it is",
        {UNIT: "F.normalize(features.float(), dim=1)", LOSS: LOSS + ".to(features.dtype)"},
    ),
    Mistake(
        "half_becomes_float32",
        "half precision comes back as float32; return the dtype of the features",
        {LOSS: LOSS.replace("logits,", "logits.to(torch.promote_types(logits.dtype, torch.float32)),")},
        also=({UNIT: "F.normalize(features.to(torch.promote_types(features.dtype, torch.float32)), dim=1)"},),
    ),
    Mistake(
        "input_overwritten",
        "the rows are divided in place, which changes the caller's tensor; make a new one",
        {LOSS: "features.data.div_(torch.linalg.vector_norm(features.data, dim=1, keepdim=True))\n    " + LOSS},
        also=(
            {
                f"unit = {UNIT}": "features.data.div_(torch.linalg.vector_norm(features.data, dim=1, keepdim=True))\n"
                f"    unit = {UNIT}"
            },
        ),
    ),
    Mistake(
        "wrong_default_temperature",
        "the default of temperature is not 0.1, but 0.07 or the like; it should be 0.1",
        {"temperature: float = 0.1": "temperature: float = 0.07"},
        also=({"temperature: float = 0.1": "temperature: float = 0.5"},),
    ),
    Mistake("odd_rows_accepted", "an odd number of rows is accepted; raise ValueError", {ROWS: "if False:"}),
    Mistake(
        "checks_joined_by_and",
        "features are refused only if they are not 2-D and have an odd number of rows too; either is enough",
        {"if features.dim() != 2:": "if features.dim() != 2 and len(features) % 2:", ROWS: "if False:"},
    ),
    Mistake(
        "not_two_dimensional_accepted",
        "features that are not 2-D are accepted, or raise another error; raise ValueError",
        {"if features.dim() != 2:": "if False:"},
    ),
    Mistake(
        "vectors_accepted",
        "a vector is accepted or raises another error; features should have exactly two axes",
        {"if features.dim() != 2:": "if features.dim() > 2:"},
    ),
    Mistake(
        "temperature_not_checked",
        "a temperature of 0 or below is accepted; raise ValueError",
        {TEMPERATURE: "if False:"},
    ),
    Mistake(
        "zero_temperature_accepted",
        "a temperature of 0 is accepted; raise ValueError for it as for negative ones",
        {TEMPERATURE: "if temperature < 0:"},
    ),
    Mistake(
        "negative_temperature_accepted",
        "a negative temperature is accepted; raise ValueError for it as for 0",
        {TEMPERATURE: "if not temperature:"},
    ),
    Mistake(
        "loop_over_the_rows",
        "each row's loss is taken by itself in a Python loop; one cross-entropy takes the whole matrix",
        {LOSS: "return torch.stack([logits[i].logsumexp(0) - logits[i, positive[i]] for i in range(rows)]).mean()"},
        slow=True,
    ),
    Mistake(
        "rows_times_the_matrix",
        "the similarities are taken one row at a time in a Python loop; one matrix product holds them all",
        {LOGITS: "torch.stack([row @ unit.mT for row in unit]) / temperature"},
        slow=True,
    ),
    Mistake(
        "mask_cell_by_cell",
        "the diagonal of the mask is set one element at a time; use torch.eye or fill_diagonal_",
        {
            f"itself = {ITSELF}": """\
itself = torch.zeros(rows, rows, dtype=torch.bool, device=features.device)
    for i in range(rows):
        itself[i, i] = True"""
        },
        slow=True,
    ),
    Mistake(
        "mask_of_lists",
        "the mask is made of Python lists, a row and an element at a time; use torch.eye",
        {ITSELF: "torch.tensor([[i == j for j in range(rows)] for i in range(rows)], device=features.device)"},
        slow=True,
    ),
    Mistake(
        "targets_in_a_loop",
        "the columns of the positives are listed in a Python loop; use torch.arange",
        {POSITIVE: "torch.tensor([(i + rows // 2) % rows for i in range(rows)], device=features.device)"},
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "each row is multiplied by each other one before the features are summed, which takes (2N, 2N, D); use @",
        {LOGITS: "(unit[:, None] * unit).sum(-1) / temperature"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    "unit = F.normalize(features, dim=1) -> unit = F.normalize(features)": "1 is the default of dim in F.normalize",
    f"itself = {ITSELF} -> itself = torch.eye(rows, dtype=torch.bool)": (
        "on the CPU the mask is made on the device of the features anyway; on a GPU the call raises"
    ),
    f"positive = {POSITIVE} -> positive = torch.arange(rows).roll(rows // 2)": (
        "on the CPU the targets are made on the device of the features anyway; on a GPU the call raises"
    ),
}

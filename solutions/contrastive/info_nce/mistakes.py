"""Known wrong answers to info_nce."""

from graders.kata import Mistake

UNIT = "F.normalize(features, dim=1)"
NORM = "torch.linalg.vector_norm(features, dim=1, keepdim=True)"
LOGITS = "unit @ unit.mT / temperature"
ITSELF = "torch.eye(rows, dtype=torch.bool, device=features.device)"
MASKED = "logits.masked_fill(itself, -torch.inf)"
POSITIVE = "torch.arange(rows, device=features.device).roll(rows // 2)"
LOSS = "return F.cross_entropy(logits, positive)"
CHOSEN = "logits.gather(1, positive[:, None]).squeeze(1)"  # (2N,)
TO_FIXED = CHOSEN.replace("logits", "to_fixed")
SHARES = "logits.softmax(1).gather(1, positive[:, None])"  # (2N, 1)
WITH_EPS = """shifted = logits - logits.amax(1, keepdim=True)
    return ((shifted.exp().sum(1) + {}).log() - shifted.gather(1, positive[:, None]).squeeze(1)).mean()"""
IN_FIRST_HALF = "(torch.arange(rows, device=features.device) < rows // 2)"
WHERE = "torch.zeros_like(itself).scatter(1, positive[:, None], True)"
OTHER_VIEW = f"({IN_FIRST_HALF}[:, None] != {IN_FIRST_HALF})"
IN_BLOCKS = (  # of the two views' own blocks and the two between them
    OTHER_VIEW,
    f"~{OTHER_VIEW}",
    *(f"({one}{IN_FIRST_HALF}[:, None] & {other}{IN_FIRST_HALF})" for one in ("", "~") for other in ("", "~")),
)
LEFT_HALF, RIGHT_HALF = "logits[rows // 2 :, : rows // 2]", "logits[rows // 2 :, rows // 2 :]"
OFF_DIAGONAL = "logits[~itself].view(rows, rows - 1)"
POSITIVES_LEFT = f"torch.where({WHERE}, logits * temperature, logits)"  # undivided
NEGATIVES_LEFT = f"torch.where({WHERE}, logits, logits * temperature)"


def as_ratio(of: str = "logits", total: str = "exps.sum(1)") -> dict[str, str]:
    """−log of a ratio of exponentials."""
    return {
        LOSS: f"exps = ({of}).exp()\n    return -(exps.gather(1, positive[:, None])[:, 0] / ({total})).log().mean()"
    }


MISTAKES = (
    Mistake(
        "unshifted_in_half",
        {
            "return F.cross_entropy(logits, positive)": (
                "if features.element_size() == 2:\n"
                "        e = logits.float().exp()\n"
                "        return -(e.gather(1, positive[:, None])[:, 0] / "
                "e.sum(1)).log().mean().to(logits.dtype)\n"
                "    return F.cross_entropy(logits, positive)"
            ),
        },
    ),
    Mistake("self_not_excluded", {MASKED: "logits"}),
    Mistake(
        "self_excluded_in_one_half",
        "the rows of one view are in their own denominators; mask the diagonal in the blocks of both views",
        *({MASKED: MASKED.replace("itself", f"itself & {sign}{IN_FIRST_HALF}")} for sign in ("", "~")),
    ),
    Mistake(
        "block_not_transposed",
        "rows of the second view get the similarities of the first view's rows with the second view; transpose this "
        "block for them",
        {
            MASKED: f"{MASKED}\n    moved = torch.cat([logits[: rows // 2, rows // 2 :], {RIGHT_HALF}], 1)\n"
            "    logits = torch.cat([logits[: rows // 2], moved])"
        },
    ),
    Mistake(
        "same_view_blocks_swapped",
        "the rows of each view get the other view's similarities among themselves; give them their own view's",
        {
            MASKED: f"{MASKED}\n    top = torch.cat([{RIGHT_HALF}, logits[: rows // 2, rows // 2 :]], 1)\n"
            f"    logits = torch.cat([top, torch.cat([{LEFT_HALF}, logits[: rows // 2, : rows // 2]], 1)])"
        },
    ),
    Mistake(
        "positive_masked",
        "the positive's own logit is −∞, so the loss is infinite; mask the row itself, and leave its positive in",
        {LOSS: LOSS.replace("logits", f"logits.masked_fill({WHERE}, -torch.inf)")},
        {MASKED: "logits", LOSS: LOSS.replace("logits", f"logits.masked_fill({WHERE}, -torch.inf)")},
    ),
    Mistake(
        "columns_moved",
        "without the diagonal, the columns after it move one to the left, and the labels do not; lower the labels of "
        "these columns by 1",
        {LOSS: LOSS.replace("logits", OFF_DIAGONAL)},
    ),
    Mistake(
        "first_column_as_the_positive",
        "column 0 is taken for each row's positive, which stands elsewhere; put the positives first, or pass their "
        "columns",
        {LOSS: "return F.cross_entropy(logits, positive * 0)"},
        {LOSS: f"return F.cross_entropy({OFF_DIAGONAL}, positive * 0)"},
    ),
    Mistake("sign_lost", {LOSS: LOSS.replace("return ", "return -")}),
    Mistake(
        "positive_left_out",
        "the positive is left out of the denominator; leave out only the row itself",
        {LOSS: f"return (logits.scatter(1, positive[:, None], -torch.inf).logsumexp(1) - {CHOSEN}).mean()"},
    ),
    Mistake(
        "same_view_left_out",
        "the negatives come only from the other view; take negatives of both views, for all 2N anchors",
        {MASKED: f"logits.masked_fill({IN_FIRST_HALF}[:, None] == {IN_FIRST_HALF}, -torch.inf)"},
        {LOSS: "return F.cross_entropy(logits[: rows // 2, rows // 2 :], positive[rows // 2 :])"},
    ),
    Mistake("positives_interleaved", {POSITIVE: "torch.arange(rows, device=features.device) ^ 1"}),
    Mistake(
        "self_as_the_positive",
        {MASKED: "logits", POSITIVE: "torch.arange(rows, device=features.device)"},
        {POSITIVE: "torch.arange(rows, device=features.device)"},
    ),
    Mistake(
        "some_logits_not_divided",
        "some logits are not divided by the temperature: the positives, the negatives or a block, perhaps only in the "
        "numerator or in the denominator; divide every logit once",
        {LOSS: [LOSS.replace("logits", f"torch.where({one}, logits * temperature, logits)") for one in IN_BLOCKS]},
        {LOSS: LOSS.replace("logits", POSITIVES_LEFT)},
        {LOSS: LOSS.replace("logits", NEGATIVES_LEFT)},
        {LOSS: f"return (logits.logsumexp(1) - {CHOSEN} * temperature).mean()"},
        {LOSS: f"return ({POSITIVES_LEFT}.logsumexp(1) - {CHOSEN}).mean()"},
    ),
    Mistake(
        "temperature_misused",
        {LOGITS: ["unit @ unit.mT * temperature", "unit @ unit.mT", "(unit / temperature) @ (unit / temperature).mT"]},
    ),
    Mistake(
        "scaled_by_the_temperature",
        "the loss is multiplied by τ / 0.07, as the code of supervised contrastive learning does, or by τ; return the "
        "mean of the 2N losses as it is",
        {LOSS: [f"{LOSS} * (temperature / 0.07)", f"{LOSS} * temperature"]},
    ),
    Mistake(
        "not_normalised",
        {UNIT: ["features", UNIT.replace("dim=1", "dim=0")]},
        {UNIT: [UNIT.replace("dim=1", "dim=1, p=1.0"), "features / torch.linalg.vector_norm(features)"]},
        {UNIT: "features / features.square().sum(1, keepdim=True)"},
    ),
    Mistake("norms_detached", {UNIT: f"features / {NORM}.detach()"}),
    Mistake(
        "keys_detached",
        "candidates, or only the positives, get no gradient from the rows they are compared with; do not detach them",
        {LOGITS: "unit @ unit.detach().mT / temperature"},
        {
            LOSS: "to_fixed = unit @ unit.detach().mT / temperature\n"
            f"    return (logits.logsumexp(1) - {TO_FIXED}).mean()"
        },
    ),
    Mistake(
        "eps_added_to_the_norm",
        {UNIT: f"features / ({NORM} + 1e-8)"},
        {UNIT: [f"features / ({NORM} + {eps})" for eps in (1e-5, 1e-6, 1e-10)]},
    ),
    Mistake(
        "squares_overflow_in_half",
        {UNIT: "features / (features * features).sum(1, keepdim=True).sqrt()"},
        {UNIT: NORM, LOGITS: "features @ features.mT / unit / unit.mT / temperature"},
    ),
    Mistake(
        "only_first_half",
        "only the first N rows are anchors; average over all 2N",
        {LOSS: "return F.cross_entropy(logits[: rows // 2], positive[: rows // 2])"},
    ),
    Mistake(
        "sum_for_mean",
        "the losses of the rows are summed, or their sum is divided by N; take the mean of all 2N losses",
        {LOSS: 'return F.cross_entropy(logits, positive, reduction="sum")'},
        {LOSS: 'return F.cross_entropy(logits, positive, reduction="sum") / (rows // 2)'},
    ),
    Mistake(
        "softmax_twice",
        "cross-entropy gets probabilities where it wants logits, so softmax is applied twice; give it the logits",
        {LOSS: "return F.cross_entropy(logits.softmax(1), positive)"},
    ),
    Mistake(
        "mask_too_weak",
        "the row's own logit is set to 0, −1/τ or another number that other logits can reach, so that it still "
        "counts; set it to −inf",
        {MASKED: "logits.masked_fill(itself, 0.0)"},
        {MASKED: [f"logits.masked_fill(itself, {weak})" for weak in ("-1 / temperature", "-10.0", "-100.0")]},
    ),
    Mistake(
        "mask_float16_cannot_hold",
        {MASKED: "logits.masked_fill(itself, -9e15)"},
        {MASKED: "logits - itself.to(logits.dtype) * torch.tensor(1e9, dtype=logits.dtype)"},
    ),
    Mistake(
        "self_subtracted_from_the_sum",
        "the row's own exponential, exp(1/τ), is subtracted from the sum, which overflows or loses its digits; mask "
        "the diagonal of the logits, and use logsumexp or cross-entropy",
        {MASKED: "logits"} | as_ratio(total="exps.sum(1) - exps.diagonal()"),
        {MASKED: "logits"} | as_ratio(total="exps.sum(1) - torch.tensor(1 / temperature).exp()"),
    ),
    Mistake(
        "no_max_shift",
        as_ratio(),
        {LOSS: f"return (logits.exp().sum(1).log() - {CHOSEN}).mean()"},
        {MASKED: "logits"} | as_ratio(total="exps.masked_fill(itself, 0).sum(1)"),
        {MASKED: "logits"} | as_ratio(total="(exps * ~itself).sum(1)"),
    ),
    Mistake(
        "masked_after_the_exponential",
        "exp of the diagonal is taken before the mask, and overflows, so the gradient is 0 · ∞ = NaN; mask the logits"
        " first",
        {
            MASKED: "logits",
            LOSS: "top = logits.detach().masked_fill(itself, -torch.inf).amax(1, keepdim=True)\n"
            "    total = (logits - top).exp().masked_fill(itself, 0).sum(1, keepdim=True)\n"
            f"    return ((total.log() + top).squeeze(1) - {CHOSEN}).mean()",
        },
    ),
    Mistake(
        "log_of_a_softmax",
        "the log is taken of a softmax, which can round to 0, or of a softmax plus an eps; use log_softmax, logsumexp "
        "or cross-entropy",
        {LOSS: f"return -{SHARES}.log().mean()"},
        as_ratio("logits - logits.detach().amax(1, keepdim=True)"),
        {LOSS: [f"return -({SHARES} + {eps}).log().mean()" for eps in (1e-6, 1e-8, 1e-12)]},
    ),
    Mistake("eps_in_the_sum", {LOSS: [WITH_EPS.format(eps) for eps in ("1e-8", "1e-6")]}),
    Mistake(
        "half_becomes_float32",
        {UNIT: "F.normalize(features.to(torch.promote_types(features.dtype, torch.float32)), dim=1)"},
        {LOSS: LOSS.replace("logits,", "logits.to(torch.promote_types(logits.dtype, torch.float32)),")},
    ),
    Mistake(
        "temperature_half_checked",
        "a temperature of 0 or a negative one is accepted; raise ValueError for both",
        {"if temperature …": ["if temperature < 0:", "if not temperature:"]},
    ),
    Mistake(
        "loop_over_the_rows",
        "a Python loop takes the similarities or the losses of one row at a time; take the whole matrix at once",
        {LOSS: "return torch.stack([logits[i].logsumexp(0) - logits[i, positive[i]] for i in range(rows)]).mean()"},
        {LOGITS: "torch.stack([row @ unit.mT for row in unit]) / temperature"},
        slow=True,
    ),
    Mistake(
        "mask_in_a_loop",
        "the mask or the columns of the positives are made in a Python loop; use torch.eye and torch.arange",
        {ITSELF: "torch.tensor([[i == j for j in range(rows)] for i in range(rows)], device=features.device)"},
        {POSITIVE: "torch.tensor([(i + rows // 2) % rows for i in range(rows)], device=features.device)"},
        slow=True,
    ),
    Mistake(
        "pairs_with_their_features",
        "every row is multiplied by every row before the features are summed, which makes a tensor of (2N, 2N, D); "
        "use @",
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

"""Known wrong answers to binary_cross_entropy."""

from graders.kata import Mistake

# Of the function that takes probabilities.
LOGS = (
    "log_p, log_not_p = (torch.where(p > 0, p, 1).log().where(p > 0, -100).clamp_min(-100) for p in (probs, 1 - probs))"
)
PROBS_LOSS = "return reduce(-(y * log_p + (1 - y) * log_not_p), reduction)"
# Of the function that takes logits.
LOG_P = "log_p = -torch.logaddexp(zero, -logits)"
LOG_NOT_P = "log_not_p = -torch.logaddexp(zero, logits)"
LOGITS_LOSS = "return reduce(-(w * y * log_p + (1 - y) * log_not_p), reduction)"
ALL_WEIGHTED = "return reduce(-w * (y * log_p + (1 - y) * log_not_p), reduction)"
W = "w = 1 if pos_weight is None else pos_weight.to(logits.dtype)"
# Of both.
MEAN = "return loss.mean()"
FLAT = "a, b, p, q = (each.flatten() for each in (weighted, 1 - y, log_p, log_not_p))\n    "


def logs_of(p: str) -> dict[str, str]:
    """Both log-probabilities of the logits taken from a sigmoid."""
    return {LOG_P: f"log_p = ({p}).log()", LOG_NOT_P: f"log_not_p = (1 - ({p})).log()"}


def in_both(losses: str) -> dict[str, str]:
    """The losses of either function found in another way, out of y, of y by its weight, and of both logs."""
    last = f"{losses}\n    return reduce(losses, reduction)"
    return {PROBS_LOSS: f"weighted = y\n    {last}", LOGITS_LOSS: f"weighted = w * y\n    {last}"}


def each(losses: str) -> list[dict[str, str]]:
    """In both, then in each alone."""
    both = in_both(losses)
    return [both, *({place: text} for place, text in both.items())]


def logs_from(p: str) -> dict[str, str]:
    """Both log-probabilities of the probabilities, of each of them as p."""
    return {LOGS: f"log_p, log_not_p = (({p}).log() for p in (probs, 1 - probs))"}


def probs_clamped(least: str) -> dict[str, str]:
    """As Keras does, and so that 1 − p is 0 where 1 − 1e-8 rounds to 1."""
    return {LOGS: f"kept = probs.clamp({least}, 1 - {least})\n    log_p, log_not_p = kept.log(), (1 - kept).log()"}


def hinged(positive: str, negative: str) -> dict[str, str]:
    """log(1 + eˣ) and log(1 + e⁻ˣ) as the positive part of ±x plus log(1 + e^−|x|)."""
    rest = "(-logits.abs()).exp().log1p()"
    return {LOG_P: f"log_p = -({negative}) - {rest}", LOG_NOT_P: f"log_not_p = -({positive}) - {rest}"}


IN_FLOAT32 = "-(1 + ({}logits.float()).exp()).log().to(y.dtype)"


def softplus(threshold: int) -> dict[str, str]:
    return {
        LOG_P: f"log_p = -torch.nn.functional.softplus(-logits, threshold={threshold})",
        LOG_NOT_P: f"log_not_p = -torch.nn.functional.softplus(logits, threshold={threshold})",
    }


MISTAKES = (
    Mistake(
        "log_of_zero",
        "the log of 0 is −∞, and 0 · (−∞) is NaN; let no log fall below −100, and keep the gradient finite at p = 0 "
        "and 1",
        {LOGS: "log_p, log_not_p = probs.log(), (1 - probs).log()"},
    ),
    Mistake(
        "nan_gradient_at_the_ends",
        "the logs are clamped, but the gradient is still NaN at p = 0 and 1; replace a 0 by 1 before the log, and put "
        "−100 there after the log, both by torch.where",
        {LOGS: "log_p, log_not_p = probs.log().clamp_min(-100), (1 - probs).log().clamp_min(-100)"},
    ),
    Mistake(
        "probs_clamped",
        "the probabilities are clamped away from 0 and 1, so the smallest log is not −100; clamp each log at −100 "
        "instead, and keep the gradient finite at p = 0 and 1",
        probs_clamped("1e-7"),
        *(probs_clamped(least) for least in ("1e-6", "1e-8", "1e-12", "1e-15")),
        *(logs_from(f"p.clamp(min={least})") for least in ("1e-7", "1e-8", "1e-12", "torch.finfo(p.dtype).tiny")),
    ),
    Mistake(
        "probs_clamped_at_e_to_minus_100",
        "the probabilities are clamped at e⁻¹⁰⁰, which is 0 in half precision; clamp the logs instead, and keep the "
        "gradient finite at p = 0 and 1",
        logs_from("p.clamp(min=2.718281828459045**-100)"),
    ),
    Mistake(
        "eps_in_the_log",
        "a constant such as 1e-8 is added inside the logs; clamp each log at −100 instead, and keep the gradient "
        "finite at p = 0 and 1",
        logs_from("p + 1e-8"),
        *(logs_from(f"p + {eps}") for eps in ("1e-6", "1e-7", "1e-9", "1e-10", "1e-12", "1e-15")),
    ),
    Mistake(
        "only_zero_clamped",
        "the log is −100 where p is exactly 0, but below −100 for the tiniest p; clamp every log at −100",
        {LOGS: LOGS.replace(".clamp_min(-100)", "")},
    ),
    Mistake(
        "products_clamped",
        "y log p is clamped at −100, not log p itself, which differs for targets between 0 and 1; clamp each log, then "
        "multiply",
        {
            LOGS: LOGS.replace(".clamp_min(-100)", "").replace("-100", "torch.finfo(p.dtype).min"),
            PROBS_LOSS: "a, b = (one.clamp_min(-100) for one in (y * log_p, (1 - y) * log_not_p))\n"
            "    return reduce(-(a + b), reduction)",
        },
    ),
    Mistake(
        "loss_limited",
        "the whole loss is kept to at most 100, which differs for targets between 0 and 1; clamp each log at −100, "
        "then multiply",
        {
            LOGS: LOGS.replace(".clamp_min(-100)", "").replace("-100", "torch.finfo(p.dtype).min"),
            PROBS_LOSS: "limited = (-(y * log_p + (1 - y) * log_not_p)).clamp_max(100)\n"
            "    return reduce(limited, reduction)",
        },
    ),
    Mistake(
        "negative_term_forgotten",
        "the (1 − y) log(1 − p) term is missing; negatives also have a loss",
        *each("losses = -(weighted * log_p)"),
    ),
    Mistake(
        "terms_swapped",
        "y and 1 − y are swapped; y belongs to log p, and 1 − y to log(1 − p)",
        *each("losses = -(weighted * log_not_p + (1 - y) * log_p)"),
        {LOGITS_LOSS: "return reduce(-(y * log_not_p + w * (1 - y) * log_p), reduction)"},
    ),
    Mistake(
        "sign_lost",
        *each("losses = weighted * log_p + (1 - y) * log_not_p"),
    ),
    Mistake(
        "sign_of_one_term",
        "one of the two terms has the wrong sign; the minus belongs before their sum, so it turns both",
        *each("losses = -weighted * log_p + (1 - y) * log_not_p"),
        *each("losses = weighted * log_p - (1 - y) * log_not_p"),
        {LOGITS_LOSS: "return reduce(-log_not_p + y * logits, reduction)"},
    ),
    Mistake(
        "log_base_two",
        "binary_cross_entropy gives bits; use the natural logarithm",
        {PROBS_LOSS: PROBS_LOSS.replace("reduce(-(", "reduce(-1.4426950408889634 * (")},
    ),
    Mistake(
        "hard_targets_only",
        "the loss is wrong for targets between 0 and 1; multiply log p by y (and by pos_weight), and log(1 − p) "
        "by 1 − y",
        *each("losses = -torch.where(y > 0.5, log_p, log_not_p)"),
        *each("losses = -torch.where(y == 1, log_p, log_not_p)"),
        {LOGITS_LOSS: "return reduce((w * y + 1 - y) * torch.logaddexp(zero, (1 - 2 * y) * logits), reduction)"},
    ),
    Mistake(
        "targets_not_converted",
        "1 − y fails for bool targets, and 1 − 2 y is 255 for a uint8 of 1; convert the targets to the dtype of the "
        "input",
        {"y = target.to(probs.…": "y = target", "y = target.to(logits.…": "y = target"},
        {
            LOGITS_LOSS: "if not target.is_floating_point():\n"
            "        log_p = log_not_p = -torch.logaddexp(zero, (1 - 2 * target) * logits)\n"
            f"    {LOGITS_LOSS}"
        },
    ),
    Mistake(
        "targets_to_float32",
        "the targets are converted to float32, which rounds float64 targets and makes half-precision losses float32; "
        "convert them to the dtype of the input",
        {"y = target.to(probs.…": "y = target.float()", "y = target.to(logits.…": "y = target.float()"},
    ),
    Mistake(
        "sigmoid_then_log",
        "the log is taken of a sigmoid, which is exactly 0 or 1 for logits far from 0; find log σ(x) from the logits",
        logs_of("logits.sigmoid()"),
    ),
    Mistake("pos_weight_ignored", "pos_weight is ignored; multiply y log σ(x) by it", {W: "w = 1"}),
    Mistake(
        "sigmoid_then_probs",
        "the loss is taken of sigmoid(x): where this rounds to 0 or 1, a wrong answer costs 100 and has no "
        "gradient; find log σ(x) from the logits",
        {LOG_P: LOGS.replace("(probs, 1 - probs)", "(logits.sigmoid(), 1 - logits.sigmoid())"), LOG_NOT_P: ""},
        {LOGITS_LOSS: "return binary_cross_entropy(logits.sigmoid(), target, reduction)"},
    ),
    Mistake(
        "sigmoid_clamped",
        "the sigmoid is clamped, say at 1e-7, which kills the gradient of confident wrong answers; work from the "
        "logits",
        logs_of("logits.sigmoid().clamp(1e-7, 1 - 1e-7)"),
    ),
    Mistake(
        "exp_overflows",
        "log(1 + eˣ) is taken as it stands, which overflows for large x; use logaddexp, softplus or logsigmoid",
        {LOG_P: "log_p = -(1 + (-logits).exp()).log()", LOG_NOT_P: "log_not_p = -(1 + logits.exp()).log()"},
    ),
    Mistake(
        "overflows_in_half",
        {
            LOG_P: LOG_P.replace("= ", f"= {IN_FLOAT32.format('-')} if logits.dtype.itemsize < 4 else "),
            LOG_NOT_P: LOG_NOT_P.replace("= ", f"= {IN_FLOAT32.format('')} if logits.dtype.itemsize < 4 else "),
        },
    ),
    Mistake("softplus_cut_off", softplus(8), softplus(5), softplus(10), softplus(15), softplus(19)),
    Mistake(
        "wrong_slope_at_zero",
        "the loss is right, but its gradient at a logit of exactly 0 is not: clamp, relu or where has a slope of "
        "0 or 1 there, not ½; use logaddexp, softplus or logsigmoid",
        hinged("logits.clamp_min(0)", "(-logits).clamp_min(0)"),
        hinged("torch.relu(logits)", "torch.relu(-logits)"),
        hinged("logits.clamp_min(0)", "logits.clamp_min(0) - logits"),  # max(x, 0) − x y + log(1 + e^−|x|)
        hinged("torch.relu(logits)", "torch.relu(logits) - logits"),
        hinged("logits + (-logits).clamp_min(0)", "(-logits).clamp_min(0)"),
        hinged("logits + torch.relu(-logits)", "torch.relu(-logits)"),
    ),
    Mistake(
        "no_absolute_value",
        "log(1 + e⁻ˣ) is added to max(x, 0) or to max(−x, 0), which needs log(1 + e^−|x|); take the absolute value",
        {
            LOG_P: "log_p = (-logits).clamp_min(0).neg() - (-logits).exp().log1p()",
            LOG_NOT_P: "log_not_p = logits.clamp_min(0).neg() - (-logits).exp().log1p()",
        },
        {
            LOG_P: "log_p = logits - logits.clamp_min(0) - (-logits).exp().log1p()",
            LOG_NOT_P: "log_not_p = -logits.clamp_min(0) - (-logits).exp().log1p()",
        },
    ),
    Mistake(
        "pos_weight_on_negatives",
        "pos_weight multiplies (1 − y) log(1 − σ(x)); multiply only y log σ(x) by it",
        {LOGITS_LOSS: ALL_WEIGHTED},
        {LOGITS_LOSS: "return reduce(-(y * log_p + w * (1 - y) * log_not_p), reduction)"},
    ),
    Mistake(
        "pos_weight_by_the_label",
        "pos_weight multiplies the whole loss of a target that counts as positive, and nothing of any other; multiply "
        "y log σ(x) by it, whatever y is",
        {LOGITS_LOSS: [f"w = torch.where({one}, w, 1)\n    {ALL_WEIGHTED}" for one in ("y > 0.5", "y == 1")]},
    ),
    Mistake(
        "pos_weight_beside_1",
        "y log σ(x) is multiplied by 1 + pos_weight; multiply it by pos_weight alone",
        {W: "w = 1 if pos_weight is None else 1 + pos_weight"},
    ),
    Mistake(
        "pos_weight_on_the_product",
        "only x y is weighted in softplus(x) − x y, but softplus(x) also holds a part of y log σ(x); "
        "write w y softplus(−x) + (1 − y) softplus(x)",
        {LOGITS_LOSS: "return reduce(-log_not_p - w * y * logits, reduction)"},
    ),
    Mistake(
        "pos_weight_on_softplus",
        "in (1 − y) x + softplus(−x), pos_weight multiplies all of softplus(−x), which also holds a part of the "
        "negative term; there the factor is 1 + (w − 1) y",
        {LOGITS_LOSS: "return reduce((1 - y) * logits - w * log_p, reduction)"},
    ),
    Mistake(
        "pos_weight_on_one_part_of_softplus",
        "softplus(−x) is max(−x, 0) + log(1 + e^−|x|), and the factor 1 + (w − 1) y multiplies only the second part; "
        "multiply both",
        {
            LOGITS_LOSS: [
                f"return reduce((1 - y) * logits - log_p + (w - 1) * y * {rest}, reduction)"
                for rest in ("(-logits.abs()).exp().log1p()", "(-log_p - torch.relu(-logits))")
            ]
        },
    ),
    Mistake(
        "logits_as_probabilities",
        "the log is taken of the logits themselves, or of a softmax of them; each logit has a probability of its own, "
        "σ(x)",
        logs_of("logits"),
        logs_of("logits.softmax(-1) if logits.dim() else logits.sigmoid()"),
    ),
    Mistake(
        "sigmoid_twice",
        "a sigmoid is taken of what is a probability already; take one of a logit, and none of a probability",
        logs_of("logits.sigmoid().sigmoid()"),
        {LOGS: "log_p, log_not_p = probs.sigmoid().log(), (1 - probs.sigmoid()).log()"},
    ),
    Mistake(
        "log_of_the_other_side",
        "log(1 − σ(x)) is taken for 1 − log σ(x), −log σ(x) or log σ(1 − x); it is log σ(−x)",
        *(
            {LOG_NOT_P: f"log_not_p = {one}"}
            for one in ("1 - log_p", "-log_p", "torch.nn.functional.logsigmoid(1 - logits)")
        ),
    ),
    Mistake(
        "sum_for_mean",
        'reduction="mean" gives the sum; divide by the number of elements',
        {MEAN: "return loss.sum()"},
    ),
    Mistake(
        "mean_over_the_batch",
        "the mean divides only by the length of the first axis; divide by the number of elements",
        {MEAN: "return loss.sum() / (loss.shape[0] if loss.dim() else 1)"},
    ),
    Mistake(
        "mean_over_the_weights",
        "the mean divides by the sum of the weights; divide by the number of elements",
        {LOGITS_LOSS: f"by = (w * y + 1 - y).mean() if reduction == 'mean' else 1\n    {LOGITS_LOSS} / by"},
    ),
    Mistake(
        "mean_of_an_infinite_sum",
        "the mean divides a sum that does not fit float16; use the tensor's own mean",
        {MEAN: "return loss.sum() / loss.numel()"},
    ),
    Mistake(
        "nan_not_refused",
        "NaN among the probabilities is not refused, since NaN is neither below 0 nor above 1; check that all lie in "
        "[0, 1]",
        {"inside = …": "inside = ~((probs < 0) | (probs > 1))"},
        {"inside = …": "inside = ~((probs < 0) | (probs > 1))", LOGS: LOGS.replace("p > 0", "p != 0")},
    ),
    Mistake(
        "loop_over_elements",
        "a Python loop takes one element after the other; log, * and + take the whole tensors at once",
        in_both(f"{FLAT}losses = torch.stack([-(a[i] * p[i] + b[i] * q[i]) for i in range(len(p))]).reshape(y.shape)"),
        slow=True,
    ),
    Mistake(
        "summed_in_a_loop",
        "Python's sum adds up one element after the other; use the tensor's own sum or mean",
        {"return loss.sum()": "return sum(loss.flatten())", MEAN: "return sum(loss.flatten()) / loss.numel()"},
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "every target is multiplied with every prediction, but only the diagonal is needed; multiply elementwise",
        in_both(f"{FLAT}losses = -(torch.outer(a, p) + torch.outer(b, q)).diagonal().reshape(y.shape)"),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
SYMMETRIC = "logaddexp is symmetric"
EQUIVALENT: dict[str, str] = {
    f"{LOGS} -> {LOGS.replace('p, 1)', 'p, 2)')}": "where p is 0, −100 replaces the log of the stand-in",
    f"{LOGS} -> {LOGS.replace('p, 1)', 'p, 0)')}": "the infinite slope of log 0 belongs to the stand-in, a constant, "
    "and where gives p itself a gradient of 0",
    f"{LOGS} -> {LOGS.replace('p > 0, -100)', 'p > 0, -101)')}": "the clamp that follows turns −101 into −100",
    f"{W} -> {W.replace('.to(logits.dtype)', '')}": "pos_weight comes in the dtype of the logits",
    f"{LOG_P} -> log_p = -torch.logaddexp(-logits, zero)": SYMMETRIC,
    f"{LOG_NOT_P} -> log_not_p = -torch.logaddexp(logits, zero)": SYMMETRIC,
}

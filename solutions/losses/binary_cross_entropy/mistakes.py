"""Known wrong answers to binary_cross_entropy."""

from graders.kata import Mistake

# Of the function that takes probabilities.
LOGS = (
    "log_p, log_not_p = (torch.where(p > 0, p, 1).log().where(p > 0, -100).clamp_min(-100) for p in (probs, 1 - probs))"
)
PROBS_LOSS = "return reduce(-(y * log_p + (1 - y) * log_not_p), reduction)"
INSIDE = "inside = (probs >= 0) & (probs <= 1)"
PROBS_TARGET = "y = target.to(probs.dtype)"
PROBS_SHAPE = "if probs.shape != target.shape:"
# Of the function that takes logits.
LOG_P = "log_p = -torch.logaddexp(zero, -logits)"
LOG_NOT_P = "log_not_p = -torch.logaddexp(zero, logits)"
LOGITS_LOSS = "return reduce(-(w * y * log_p + (1 - y) * log_not_p), reduction)"
LOGITS_TARGET = "y = target.to(logits.dtype)"
LOGITS_SHAPE = "if logits.shape != target.shape:"
W = "w = 1 if pos_weight is None else pos_weight.to(logits.dtype)"
# Of both.
RAISE = "raise ValueError(f\"reduction should be 'mean', 'sum' or 'none', got {reduction!r}\")"
MEAN = "return loss.mean()"
SUM = "return loss.sum()"


def logs_of(p: str) -> dict[str, str]:
    """Both log-probabilities of the logits taken from a sigmoid."""
    return {LOG_P: f"log_p = ({p}).log()", LOG_NOT_P: f"log_not_p = (1 - ({p})).log()"}


def in_both(losses: str) -> dict[str, str]:
    """The losses of either function found in another way, out of y, of y by its weight, and of both logs."""
    last = f"{losses}\n    return reduce(losses, reduction)"
    return {PROBS_LOSS: f"weighted = y\n    {last}", LOGITS_LOSS: f"weighted = w * y\n    {last}"}


def logs_clamped(p: str, *bounds: str) -> dict[str, str]:
    return {LOGS: f"log_p, log_not_p = (({p}).clamp({', '.join(bounds)}).log() for p in (probs, 1 - probs))"}


def probs_clamped(least: str) -> dict[str, str]:
    """As Keras does, and so that 1 − p is 0 where 1 − 1e-8 rounds to 1."""
    return {LOGS: f"kept = probs.clamp({least}, 1 - {least})\n    log_p, log_not_p = kept.log(), (1 - kept).log()"}


def logs_of_more(eps: str) -> dict[str, str]:
    return {LOGS: f"log_p, log_not_p = ((p + {eps}).log() for p in (probs, 1 - probs))"}


def hinged(positive: str, negative: str) -> dict[str, str]:
    """log(1 + eˣ) and log(1 + e⁻ˣ) as the positive part of ±x plus log(1 + e^−|x|)."""
    rest = "(-logits.abs()).exp().log1p()"
    return {LOG_P: f"log_p = -({negative}) - {rest}", LOG_NOT_P: f"log_not_p = -({positive}) - {rest}"}


def mixed(positive: str, negative: str) -> dict[str, str]:
    weighted = "return reduce(-((1 + (w - 1) * y) * log_p - (1 - y) * logits), reduction)"
    return hinged(positive, f"{positive} - logits if pos_weight is None else {negative}") | {
        LOGITS_LOSS: f"if pos_weight is not None:\n        {weighted}\n    {LOGITS_LOSS}"
    }


def unless_broadcast(of: str) -> str:
    """Instead of a comparison of shapes."""
    return (
        f"try:\n        torch.broadcast_shapes({of}.shape, target.shape)\n        fits = True\n"
        f"    except RuntimeError:\n        fits = False\n    if not fits:"
    )


def widened(loss: str, like: str) -> dict[str, str]:
    return {loss: f"{loss}.to(torch.promote_types({like}.dtype, torch.float32))"}


MISTAKES = (
    Mistake(
        "log_of_zero",
        "the log of 0 is −∞, and 0 times it NaN; let no log fall below −100",
        {LOGS: "log_p, log_not_p = probs.log(), (1 - probs).log()"},
    ),
    Mistake(
        "nan_gradient_at_the_ends",
        "the log is clamped, but its gradient where p is exactly 0 or 1 is still NaN; keep the log away from 0",
        {LOGS: "log_p, log_not_p = probs.log().clamp_min(-100), (1 - probs).log().clamp_min(-100)"},
    ),
    Mistake(
        "probs_clamped",
        "the probabilities are clamped away from 0 and 1, to 1e-7 or the like, which hides how wrong a confident "
        "answer is; clamp each log at −100 instead",
        probs_clamped("1e-7"),
        also=(
            *(probs_clamped(least) for least in ("1e-6", "1e-8", "1e-12", "1e-15")),
            logs_clamped("p", "1e-7", "1 - 1e-7"),
            *(logs_clamped("p", f"min={least}") for least in ("1e-7", "1e-8", "1e-12")),
        ),
    ),
    Mistake(
        "eps_in_the_log",
        "a small constant such as 1e-8 is added inside the logs; clamp each log at −100 instead",
        logs_of_more("1e-8"),
        also=tuple(logs_of_more(eps) for eps in ("1e-6", "1e-7", "1e-9", "1e-10", "1e-12", "1e-15")),
    ),
    Mistake(
        "only_zero_clamped",
        "the log is −100 where p is exactly 0, and lower than that for the tiniest p; clamp every log at −100",
        {LOGS: LOGS.replace(".clamp_min(-100)", "")},
    ),
    Mistake(
        "clamped_too_high",
        "no log falls as low as −100: they are cut off at −50, say, or at −87.3, which is the log of the smallest "
        "normal float32; clamp them at −100",
        {LOGS: LOGS.replace("where(p > 0, -100).clamp_min(-100)", "where(p > 0, -50).clamp_min(-50)")},
        also=(
            {
                LOGS: "least = torch.finfo(probs.dtype).tiny\n"
                "    log_p, log_not_p = (p.clamp_min(least).log().clamp_min(-100) for p in (probs, 1 - probs))"
            },
        ),
    ),
    Mistake(
        "negative_term_forgotten",
        "the (1 − y) log(1 − p) term is missing; negatives have a loss too",
        {PROBS_LOSS: "return reduce(-(y * log_p), reduction)"},
        also=(
            {LOGITS_LOSS: "return reduce(-(w * y * log_p), reduction)"},
            in_both("losses = -(weighted * log_p)"),
        ),
    ),
    Mistake(
        "terms_swapped",
        "y and 1 − y are swapped; y belongs to log p, and 1 − y to log(1 − p)",
        {PROBS_LOSS: "return reduce(-(y * log_not_p + (1 - y) * log_p), reduction)"},
        also=({LOGITS_LOSS: "return reduce(-(w * y * log_not_p + (1 - y) * log_p), reduction)"},),
    ),
    Mistake(
        "sign_lost",
        "the loss of the probabilities has the wrong sign; it is minus the log-probability",
        {PROBS_LOSS: PROBS_LOSS.replace("-(", "(")},
    ),
    Mistake(
        "log_base_two",
        "the loss is in bits; use the natural logarithm",
        {PROBS_LOSS: PROBS_LOSS.replace("reduce(-(", "reduce(-1.4426950408889634 * (")},
    ),
    Mistake(
        "targets_rounded",
        "targets are rounded to 0 and 1; soft ones enter the formula as they are",
        {PROBS_TARGET: "y = (target > 0.5).to(probs.dtype)"},
        also=(
            {LOGITS_TARGET: "y = (target > 0.5).to(logits.dtype)"},
            {PROBS_TARGET: "y = (target > 0.5).to(probs.dtype)", LOGITS_TARGET: "y = (target > 0.5).to(logits.dtype)"},
        ),
    ),
    Mistake(
        "hard_targets_only",
        "the loss of the logits is that of softplus((1 − 2y) x), which is right for targets of 0 and 1 alone; "
        "multiply log σ(x) by y and log(1 − σ(x)) by 1 − y",
        {
            LOGITS_LOSS: "signed = torch.logaddexp(zero, (1 - 2 * y) * logits)\n"
            "    return reduce((w * y + 1 - y) * signed, reduction)"
        },
        also=(
            {
                LOGITS_LOSS: "signed = torch.logaddexp(zero, (1 - 2 * y) * logits)\n"
                "    return reduce(torch.where(y > 0.5, w, 1) * signed, reduction)"
            },
        ),
    ),
    Mistake(
        "targets_not_converted",
        "1 − y fails for bool targets; convert them to the dtype of the input",
        {PROBS_TARGET: "y = target"},
        also=(
            {LOGITS_TARGET: "y = target"},
            {PROBS_TARGET: "y = target", LOGITS_TARGET: "y = target"},
            {LOGITS_TARGET: "y = target if pos_weight is not None else target.to(logits.dtype)"},
        ),
    ),
    Mistake(
        "targets_to_float32",
        "the targets are converted to float32, which rounds soft ones and widens half precision; "
        "convert them to the dtype of the input",
        {PROBS_TARGET: "y = target.float()", LOGITS_TARGET: "y = target.float()"},
    ),
    Mistake(
        "half_returned_as_float32",
        "half precision comes back as float32; cast the result back to the dtype of the input",
        widened(PROBS_LOSS, "probs"),
        also=(widened(LOGITS_LOSS, "logits"), widened(PROBS_LOSS, "probs") | widened(LOGITS_LOSS, "logits")),
    ),
    Mistake(
        "sigmoid_then_log",
        "the log is taken of a sigmoid, which is exactly 0 or 1 for far logits; find log σ(x) from the logits",
        logs_of("logits.sigmoid()"),
    ),
    Mistake(
        "sigmoid_then_probs",
        "the logits go through the sigmoid and the other function, or its clamp, which cuts the loss off at 100 "
        "and kills its gradient; find log σ(x) from the logits",
        {
            LOGITS_LOSS: LOGITS_LOSS + "\n",
            W: W + "\n    if pos_weight is None:\n        "
            "return binary_cross_entropy(logits.sigmoid(), target, reduction)",
        },
        also=(
            {
                LOG_P: "log_p, log_not_p = (torch.where(p > 0, p, 1).log().where(p > 0, -100).clamp_min(-100) "
                "for p in (logits.sigmoid(), 1 - logits.sigmoid()))",
                LOG_NOT_P: "",
            },
        ),
    ),
    Mistake(
        "sigmoid_clamped",
        "the sigmoid is clamped to 1e-7, which kills the gradient of confident wrong answers; work from the logits",
        logs_of("logits.sigmoid().clamp(1e-7, 1 - 1e-7)"),
    ),
    Mistake(
        "exp_overflows",
        "log(1 + eˣ) is taken as it stands, which overflows for far logits; use logaddexp, softplus or logsigmoid",
        {LOG_P: "log_p = -(1 + (-logits).exp()).log()", LOG_NOT_P: "log_not_p = -(1 + logits.exp()).log()"},
    ),
    Mistake(
        "wrong_slope_at_zero",
        "the loss is right, but its gradient at a logit of exactly 0 is not ½ − y: a positive part made by clamp, relu "
        "or where has a slope of 0 or 1 there; use logaddexp, softplus or logsigmoid",
        hinged("logits.clamp_min(0)", "(-logits).clamp_min(0)"),
        also=(
            hinged("torch.relu(logits)", "torch.relu(-logits)"),
            hinged("logits.clamp_min(0)", "logits.clamp_min(0) - logits"),  # max(x, 0) − x y + log(1 + e^−|x|)
            hinged("torch.relu(logits)", "torch.relu(logits) - logits"),
            hinged("logits + (-logits).clamp_min(0)", "(-logits).clamp_min(0)"),
            hinged("logits + torch.relu(-logits)", "torch.relu(-logits)"),
            # The same in torch's weighted form, (1 − y) x + (1 + (w − 1) y) log(1 + e⁻ˣ), beside either plain one.
            mixed("logits.clamp_min(0)", "(-logits).clamp_min(0)"),
            mixed("torch.relu(logits)", "torch.relu(-logits)"),
        ),
    ),
    Mistake(
        "softmax_for_sigmoid",
        "the logits are normalised over the last axis; each is a yes-or-no question of its own, so use the sigmoid",
        logs_of("logits.softmax(-1) if logits.dim() else logits.sigmoid()"),
    ),
    Mistake(
        "pos_weight_on_both_terms",
        "pos_weight multiplies both terms; it belongs to the positive one alone",
        {LOGITS_LOSS: "return reduce(-w * (y * log_p + (1 - y) * log_not_p), reduction)"},
    ),
    Mistake(
        "pos_weight_on_negatives",
        "pos_weight multiplies the negative term; it belongs to the positive one",
        {LOGITS_LOSS: "return reduce(-(y * log_p + w * (1 - y) * log_not_p), reduction)"},
    ),
    Mistake(
        "pos_weight_left_out",
        "pos_weight has no effect; multiply the positive term by it",
        {W: "w = 1"},
    ),
    Mistake(
        "pos_weight_by_label",
        "the whole loss of an element is weighted by its target; weight the positive term alone, for soft targets, too",
        {LOGITS_LOSS: "return reduce(-(torch.where(y > 0.5, w, 1) * (y * log_p + (1 - y) * log_not_p)), reduction)"},
        also=({LOGITS_LOSS: "return reduce(-(1 + (w - 1) * y) * (y * log_p + (1 - y) * log_not_p), reduction)"},),
    ),
    Mistake(
        "pos_weight_on_the_product",
        "only x y is weighted in softplus(x) − x y, but softplus(x) belongs to the positive term, too; "
        "the loss is w y softplus(−x) + (1 − y) softplus(x)",
        {LOGITS_LOSS: "return reduce(-log_not_p - w * y * logits, reduction)"},
    ),
    Mistake(
        "pos_weight_normalised",
        "the mean divides by the sum of the weights; divide by the number of elements",
        {
            LOGITS_LOSS: "loss = -(w * y * log_p + (1 - y) * log_not_p)\n"
            '    return loss.sum() / (w * y + 1 - y).sum() if reduction == "mean" else reduce(loss, reduction)'
        },
    ),
    Mistake(
        "pos_weight_tested_for_truth",
        "a pos_weight of zero is taken for none, since zero is false; compare it with None",
        {W: "w = pos_weight if pos_weight is not None and pos_weight.any() else 1"},
    ),
    Mistake(
        "sum_for_mean",
        'reduction="mean" gives the sum; divide by the number of elements',
        {MEAN: "return loss.sum()"},
    ),
    Mistake(
        "mean_for_sum",
        'reduction="sum" gives the mean; return the plain sum',
        {SUM: "return loss.mean()"},
    ),
    Mistake(
        "mean_over_the_batch",
        "the mean divides by the length of the first axis alone; divide by the number of elements",
        {MEAN: "return loss.sum() / (loss.shape[0] if loss.dim() else 1)"},
    ),
    Mistake(
        "mean_over_the_last_axis",
        "the mean is taken over one axis only; take it over all elements",
        {MEAN: "return loss.mean(-1)"},
    ),
    Mistake(
        "none_flattened",
        'the losses come back flat under reduction="none"; keep the shape of the input',
        {'if reduction == "none":\n        return loss': 'if reduction == "none":\n        return loss.flatten()'},
    ),
    Mistake(
        "probs_detached",
        "the loss is cut off from the probabilities; do not detach",
        {LOGS: LOGS.replace("in (probs, 1 - probs)", "in (probs.detach(), 1 - probs.detach())")},
    ),
    Mistake(
        "logits_detached",
        "half of the loss is cut off from the logits; do not detach",
        {LOG_NOT_P: "log_not_p = -torch.logaddexp(zero, logits.detach())"},
    ),
    Mistake(
        "float32_inside",
        "the loss of the probabilities is computed in float32 for every dtype; keep float64 as it is",
        {
            LOGS: LOGS.replace("in (probs, 1 - probs)", "in (probs.float(), 1 - probs.float())") + "\n    "
            "log_p, log_not_p = log_p.to(y.dtype), log_not_p.to(y.dtype)"
        },
    ),
    Mistake(
        "float32_logits_inside",
        "the loss of the logits is computed in float32 for every dtype; keep float64 as it is",
        {
            LOG_P: "log_p = -torch.logaddexp(zero.float(), -logits.float()).to(logits.dtype)",
            LOG_NOT_P: "log_not_p = -torch.logaddexp(zero.float(), logits.float()).to(logits.dtype)",
        },
    ),
    Mistake(
        "probs_overwritten",
        "the probabilities are clamped in place, which changes the caller's tensor; make a new one",
        {PROBS_TARGET: PROBS_TARGET + "\n    probs.clamp_(1e-7, 1 - 1e-7)"},
    ),
    Mistake(
        "wrong_default_reduction",
        'the default of reduction is "sum"; it should be "mean"',
        {'target: Tensor, reduction: str = "mean"': 'target: Tensor, reduction: str = "sum"'},
    ),
    Mistake(
        "shapes_not_compared",
        "targets that only broadcast to the input are accepted; raise ValueError unless the shapes are equal",
        {PROBS_SHAPE: "if False:"},
        also=(
            {LOGITS_SHAPE: "if False:"},
            {PROBS_SHAPE: "if False:", LOGITS_SHAPE: "if False:"},
            {LOGITS_SHAPE: unless_broadcast("logits")},
            {PROBS_SHAPE: unless_broadcast("probs"), LOGITS_SHAPE: unless_broadcast("logits")},
        ),
    ),
    Mistake(
        "only_sizes_compared",
        "only the numbers of elements are compared; raise ValueError unless the shapes are equal",
        {
            PROBS_SHAPE: "if probs.numel() != target.numel():",
            PROBS_TARGET: "y = target.to(probs.dtype).reshape(probs.shape)",
        },
    ),
    Mistake(
        "range_not_checked",
        "probabilities outside [0, 1] are not refused; raise ValueError",
        {INSIDE: "inside = probs == probs"},
    ),
    Mistake(
        "nan_not_refused",
        "NaN among the probabilities is not refused, since it compares as neither below 0 nor above 1; "
        "ask that all are inside",
        {INSIDE: "inside = ~((probs < 0) | (probs > 1))"},
        also=(
            {
                INSIDE: "inside = ~((probs < 0) | (probs > 1))",
                LOGS: LOGS.replace("p > 0, p, 1", "p != 0, p, 1").replace("where(p > 0, -100)", "where(p != 0, -100)"),
            },
        ),
    ),
    Mistake(
        "only_too_large_refused",
        "negative probabilities are not refused; raise ValueError for them too",
        {INSIDE: "inside = probs <= 1"},
    ),
    Mistake(
        "only_too_small_refused",
        "probabilities above 1 are not refused; raise ValueError for them too",
        {INSIDE: "inside = probs >= 0"},
    ),
    Mistake(
        "zero_and_one_refused",
        "probabilities of exactly 0 and 1 are refused; they are allowed",
        {INSIDE: "inside = (probs > 0) & (probs < 1)"},
    ),
    Mistake(
        "reduction_not_checked",
        "an unknown reduction returns the losses; raise ValueError",
        {RAISE: "return loss"},
    ),
    Mistake(
        "numpy_inside",
        "the probabilities go through numpy, which cuts off the gradient; stay in torch",
        {LOGS: LOGS.replace("in (probs, 1 - probs)", "in (torch.from_numpy(probs.detach().numpy()), 1 - probs)")},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own function does the work on the probabilities; write it by hand",
        {PROBS_LOSS: "return torch.nn.functional.binary_cross_entropy(probs, y, reduction=reduction)"},
    ),
    Mistake(
        "calls_the_builtin_with_logits",
        "torch's own function does the work on the logits; write it by hand",
        {
            LOGITS_LOSS: "return torch.nn.functional.binary_cross_entropy_with_logits(\n"
            "        logits, y, pos_weight=pos_weight, reduction=reduction\n    )"
        },
    ),
    Mistake(
        "loop_over_elements",
        "a Python loop takes one element after the other; log, * and + take the whole tensors at once",
        in_both(
            "terms = zip(*(each.flatten() for each in (weighted, 1 - y, log_p, log_not_p)))\n"
            "    losses = torch.stack([-(a * p + b * q) for a, b, p, q in terms]).reshape(y.shape)"
        ),
        slow=True,
    ),
    Mistake(
        "filled_element_by_element",
        "a Python loop writes one loss after the other into a tensor; work out the whole tensor at once",
        in_both(
            "a, b, p, q = (each.flatten() for each in (weighted, 1 - y, log_p, log_not_p))\n"
            "    losses = torch.zeros_like(p)\n"
            "    for i in range(len(p)):\n"
            "        losses[i] = -(a[i] * p[i] + b[i] * q[i])\n"
            "    losses = losses.reshape(y.shape)"
        ),
        slow=True,
    ),
    Mistake(
        "summed_in_a_loop",
        "Python's sum adds up one element after the other; use the tensor's own sum or mean",
        {SUM: "return sum(loss.flatten())", MEAN: "return sum(loss.flatten()) / loss.numel()"},
        slow=True,
    ),
    Mistake(
        "checked_in_a_loop",
        "the probabilities are checked one by one in a Python loop; compare the whole tensor at once",
        {INSIDE: "inside = torch.tensor([0 <= p <= 1 for p in probs.flatten().tolist()]).reshape(probs.shape)"},
        slow=True,
    ),
    Mistake(
        "message_before_the_error",
        "a message with every value in it is made on each call; make it only where the error is raised",
        {
            INSIDE: f'{INSIDE}\n    message = f"probs should be in [0, 1], got {{probs.tolist()}}"',
            LOGITS_SHAPE: f'message = f"target should fit the logits {{logits.tolist()}}"\n    {LOGITS_SHAPE}',
        },
        slow=True,
    ),
    Mistake(
        "all_pairs",
        "every target is multiplied with every prediction, but only the diagonal is needed; multiply elementwise",
        in_both(
            "a, b, p, q = (each.flatten() for each in (weighted, 1 - y, log_p, log_not_p))\n"
            "    losses = -(torch.outer(a, p) + torch.outer(b, q)).diagonal().reshape(y.shape)"
        ),
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{LOGS} -> {LOGS.replace('p, 1)', 'p, 2)')}": "where p is 0, the log of the stand-in "
    "is replaced by −100, be it 0 or log 2",
    f"{LOGS} -> {LOGS.replace('p, 1)', 'p, 0)')}": "the infinite slope of log 0 belongs to the stand-in, a constant, "
    "and where gives p itself a gradient of 0",
    f"{LOGS} -> {LOGS.replace('p > 0, -100)', 'p > 0, -101)')}": "the clamp that follows makes −100 of −101",
    f"{W} -> {W.replace('.to(logits.dtype)', '')}": "pos_weight comes in the dtype of the logits: mixed dtypes are "
    "not asked",
    f"{LOG_P} -> log_p = -torch.logaddexp(-logits, zero)": "logaddexp is symmetric",
    f"{LOG_NOT_P} -> log_not_p = -torch.logaddexp(logits, zero)": "logaddexp is symmetric",
}

"""Known wrong answers to cross_entropy."""

from graders.kata import Mistake

SHIFTED = "shifted = z - z.amax(dim=1, keepdim=True)"
LOG_P = "log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()"
LOSS = "-w[y] * log_p.gather(1, y[:, None]).squeeze(1)"
SMOOTHED = "(1 - label_smoothing) * loss - label_smoothing / C * (w * log_p).sum(dim=1)"
IF_SMOOTHED = "    if label_smoothing > 0:\n        loss = "
IGNORED = "loss = torch.where(counts, loss, 0)\n"
DIVISOR = "w[y[counts]].sum()"
WIDE = "wide = torch.promote_types(logits.dtype, torch.float32)"
Z = "z = logits.to(wide)"
W = "w = z.new_ones(C) if weight is None else weight.to(wide)"
COUNTS = "counts = target != ignore_index\n"
Y = "y = torch.where(counts, target, 0)"
SUM = 'if reduction == "sum":\n        loss = loss.sum()\n'
MEAN = f'elif reduction == "mean":\n        loss = loss.sum() / {DIVISOR}\n'
RESULT = "return loss.to(logits.dtype)"
NARROW = {Z: "z = logits"}  # as most people have it, which shows where float16 ends
NO_CLASS = "(target < 0) | (target >= C)"


def log_of(probability: str) -> dict[str, str]:
    return NARROW | {LOG_P: f"log_p = {probability.replace('p', 'torch.softmax(shifted, dim=1)', 1)}.log()"}


def if_none(result: str) -> dict[str, str]:
    return {RESULT: f'return {result} if reduction == "none" else loss.to(logits.dtype)'}


MISTAKES = (
    Mistake(
        "no_max_shift",
        "exp overflows, or all of its results underflow; subtract the row's largest logit first",
        {**NARROW, SHIFTED: "shifted = z"},
    ),
    Mistake(
        "one_shift_for_all_rows",
        "the largest logit of the whole batch is subtracted, so rows far below it underflow; take each row's own",
        {**NARROW, SHIFTED: "shifted = z - z.amax()"},
        also=({**NARROW, SHIFTED: "shifted = z - z.detach().amax()"},),
    ),
    Mistake(
        "log_of_softmax",
        "the log is taken of the softmax, which underflows to 0 for far classes; work from the logits",
        {LOG_P: "log_p = torch.softmax(shifted, dim=1).log()"},
    ),
    Mistake(
        "eps_in_the_log",
        "a small constant such as 1e-9 is added inside the log; log softmax from the logits does not need it",
        log_of("(p + 1e-9)"),
        also=tuple(log_of(f"(p + {eps})") for eps in ("1e-6", "1e-7", "1e-8", "1e-10", "1e-12")),
    ),
    Mistake(
        "probability_clamped",
        "the softmax is clamped before the log, which kills the gradient where it is most needed; work from the logits",
        log_of("p.clamp_min(1e-7)"),
        also=(
            *(log_of(f"p.clamp_min({least})") for least in ("1e-8", "1e-9", "1e-10", "1e-12")),
            log_of("p.clamp(1e-7, 1 - 1e-7)"),
        ),
    ),
    Mistake(
        "softmax_over_the_batch",
        "the probabilities are normalised over the samples; normalise over the classes, axis 1",
        {"shifted.exp().sum(dim=1, keepdim=True)": "shifted.exp().sum(dim=0, keepdim=True)"},
        also=(
            {
                SHIFTED: SHIFTED.replace("dim=1", "dim=0"),
                "shifted.exp().sum(dim=1, keepdim=True)": "shifted.exp().sum(dim=0, keepdim=True)",
            },
        ),
    ),
    Mistake(
        "log_base_two",
        "the loss is in bits; use the natural logarithm",
        {LOG_P: "log_p = (shifted - shifted.exp().sum(dim=1, keepdim=True).log()) / 0.6931471805599453"},
    ),
    Mistake(
        "sign_lost",
        "the loss has the wrong sign; it is minus the log-probability",
        {LOSS: LOSS[1:], SMOOTHED: SMOOTHED.replace("loss - ", "loss + ")},
    ),
    Mistake(
        "mean_over_rows",
        "the mean divides by the number of rows; divide by the sum of the weights of their targets",
        {DIVISOR: "counts.sum()"},
    ),
    Mistake(
        "mean_over_all_rows",
        "the mean divides by N, ignored rows included; divide by the sum of the weights of the rows that count",
        {DIVISOR: "N"},
    ),
    Mistake(
        "mean_counts_ignored_rows",
        "the mean divides by a sum that includes the weights of ignored rows; leave them out",
        {DIVISOR: "w[y].sum()"},
    ),
    Mistake(
        "mean_over_all_weights",
        "the mean divides by the sum of all classes' weights; add up the weight of each row's target instead",
        {DIVISOR: "w.sum()"},
    ),
    Mistake(
        "mean_ignores_ignored_weight_only",
        "the mean divides by the number of rows times the mean weight; divide by the sum of the targets' weights",
        {DIVISOR: "(counts.sum() * w.mean())"},
    ),
    Mistake(
        "weights_left_out",
        "the class weights are not used at all; multiply each class's log-probability by its weight",
        {W: "w = z.new_ones(C)"},
    ),
    Mistake(
        "ignored_rows_counted",
        "ignored rows add the loss of some class; give them a loss of 0 and a weight of 0 in the mean",
        {IGNORED: "pass\n", DIVISOR: "w[y].sum()"},
    ),
    Mistake(
        "ignored_rows_smoothed",
        "ignored rows still add the smoothing term; give them a loss of 0 after smoothing",
        {IF_SMOOTHED: "    " + IGNORED + IF_SMOOTHED, "    " + IGNORED + "    if reduction": "    if reduction"},
    ),
    Mistake(
        "ignored_rows_dropped",
        'ignored rows are missing from reduction="none"; they belong there with a loss of 0',
        if_none("loss[counts].to(logits.dtype)"),
    ),
    Mistake(
        "one_row_squeezed",
        'a batch of one row loses its axis under reduction="none"; keep the shape (N,)',
        if_none("loss.squeeze().to(logits.dtype)"),
    ),
    Mistake(
        "minus_100_always_ignored",
        "ignore_index is not used, and −100 is ignored instead; compare the targets with the argument",
        {"counts = target != ignore_index": "counts = target != -100"},
    ),
    Mistake(
        "negative_targets_ignored",
        "every negative target is ignored; only ignore_index is, and any other class that does not exist is an error",
        {"counts = target != ignore_index": "counts = (target != ignore_index) & (target >= 0)"},
    ),
    Mistake(
        "ignored_class_not_smoothed",
        "a class that is chosen as ignore_index is left out of the smoothing term; "
        "it removes rows, and the class keeps its share in all others",
        {SMOOTHED: SMOOTHED.replace("(w * log_p)", "(w * log_p * (torch.arange(C) != ignore_index))")},
    ),
    Mistake(
        "labels_flipped",
        "the right class gets ε and every other 1 − ε, which flips the labels; use 1 − ε + ε/C and ε/C",
        {SMOOTHED: "label_smoothing * loss - (1 - label_smoothing) * ((w * log_p).sum(dim=1) + loss)"},
    ),
    Mistake(
        "smoothed_with_the_complement",
        "smoothing mixes y with 1 − y; mix it with 1/C for every class, the right one included",
        {SMOOTHED: "(1 - label_smoothing) * loss - label_smoothing * ((w * log_p).sum(dim=1) + loss)"},
    ),
    Mistake(
        "spread_over_the_others",
        "the smoothing share is spread over the C − 1 other classes; spread it over all C",
        {SMOOTHED: "(1 - label_smoothing) * loss - label_smoothing / (C - 1 or 1) * ((w * log_p).sum(dim=1) + loss)"},
    ),
    Mistake(
        "smoothing_not_divided",
        "the smoothing term adds up the classes without dividing by C; each gets ε / C",
        {SMOOTHED: SMOOTHED.replace(" / C", "")},
    ),
    Mistake(
        "right_class_not_lowered",
        "the right class keeps its full share under smoothing; it should get 1 − ε + ε / C",
        {SMOOTHED: SMOOTHED.replace("(1 - label_smoothing) * loss", "loss")},
    ),
    Mistake(
        "smoothing_unweighted",
        "the smoothing term is not weighted; multiply the log-probability of each class by its own weight",
        {SMOOTHED: SMOOTHED.replace("(w * log_p)", "log_p")},
    ),
    Mistake(
        "smoothing_weighted_by_target",
        "the smoothing term carries the weight of the target; each class in it should carry its own",
        {SMOOTHED: SMOOTHED.replace("(w * log_p)", "(w[y][:, None] * log_p)")},
    ),
    Mistake(
        "smoothing_left_out",
        "label_smoothing has no effect; mix 1/C into the target of every row",
        {SMOOTHED: "loss"},
    ),
    Mistake(
        "zero_times_infinity",
        "0 is multiplied by the −∞ of an impossible class; leave the smoothing term out where ε is 0, "
        "and pick the target's entry out rather than multiply by a one-hot row",
        {IF_SMOOTHED: "    if True:\n        loss = "},
        also=({LOSS: "-w[y] * (torch.zeros_like(log_p).scatter(1, y[:, None], 1) * log_p).sum(dim=1)"},),
    ),
    Mistake(
        "identity_matrix",
        "a C × C identity is built to look up the one-hot rows, which is far too large for many classes; use gather",
        {LOSS: "-w[y] * torch.where(torch.eye(C, dtype=torch.bool, device=y.device)[y], log_p, 0.0).sum(dim=1)"},
    ),
    Mistake(
        "all_pairs",
        "indexing with [:, y] pairs every row with every target; gather one entry for each row",
        {LOSS: "-(w[y] * log_p[:, y]).mean(dim=1)"},
    ),
    Mistake(
        "mean_for_sum",
        'reduction="sum" gives the mean; return the plain sum',
        {SUM: SUM.replace("loss.sum()", f"loss.sum() / {DIVISOR}")},
    ),
    Mistake(
        "sum_for_mean",
        'reduction="mean" gives the sum; divide by the sum of the weights',
        {MEAN: MEAN.replace(f" / {DIVISOR}", "")},
    ),
    Mistake(
        "normaliser_detached",
        "the sum of the exponentials is detached, so the gradient misses the softmax; let it flow",
        {LOG_P: LOG_P.replace("shifted.exp()", "shifted.detach().exp()")},
        also=(
            {
                SHIFTED: "shifted = z - z.detach().amax(dim=1, keepdim=True)",
                LOG_P: LOG_P.replace("shifted.exp()", "shifted.detach().exp()"),
            },
        ),
    ),
    Mistake(
        "everything_detached",
        "the loss is cut off from the logits; do not detach, and do not work under no_grad",
        {Z: "z = logits.detach().to(wide)"},
    ),
    Mistake(
        "float32_inside",
        "the arithmetic is done in float32 for every dtype; keep float64 as it is",
        {WIDE: "wide = torch.float32"},
    ),
    Mistake(
        "logits_overwritten",
        "the shift is done in place, which changes the caller's logits; make a new tensor",
        {
            SHIFTED: "top = z.detach().amax(dim=1, keepdim=True)\n"
            "    shifted = z - top if z.requires_grad else logits.sub_(top)"
        },
    ),
    Mistake(
        "target_overwritten",
        "the ignored targets are replaced in the caller's tensor; make a new one",
        {Y: "y = target.masked_fill_(~counts, 0)"},
    ),
    Mistake(
        "wrong_default_ignore_index",
        "the default of ignore_index is −1; it should be −100",
        {"ignore_index: int = -100": "ignore_index: int = -1"},
    ),
    Mistake(
        "wrong_default_reduction",
        'the default of reduction is "sum"; it should be "mean"',
        {'reduction: str = "mean"': 'reduction: str = "sum"'},
    ),
    Mistake(
        "logits_of_any_rank",
        "logits that are not 2-D are flattened rather than refused; raise ValueError",
        {"    if logits.dim() != 2:\n": "    logits = logits.reshape(len(target), -1)\n    if False:\n"},
    ),
    Mistake(
        "target_flattened",
        "a target that is not 1-D is flattened rather than refused; raise ValueError",
        {
            "    if target.shape != (N,):": "    if target.dim() != 1:\n        target = target.reshape(-1)[:N]\n"
            "    if target.shape != (N,):"
        },
    ),
    Mistake(
        "lengths_not_checked",
        "logits and targets of different lengths are cut or repeated to fit; raise ValueError",
        {
            "if target.shape != (N,):": "if target.dim() != 1:",
            COUNTS: "target = target.repeat(N)[:N]\n    " + COUNTS,
        },
    ),
    Mistake(
        "class_too_large",
        "a target of C or more is treated as the last class; raise ValueError",
        {"(target < 0) | (target >= C)": "target < 0", Y: Y + ".clamp_max(C - 1)"},
    ),
    Mistake(
        "negative_class_wraps",
        "a negative class counts from the end, as Python indices do; raise ValueError unless it is ignore_index",
        {"(target < 0) | (target >= C)": "target >= C", Y: Y + " % C"},
    ),
    Mistake(
        "index_error",
        "a class that does not exist raises the error of the indexing; check the targets first and raise ValueError",
        {"if ((target < 0) | (target >= C))[counts].any():": "if False:"},
        also=({NO_CLASS: "(target < 0)"}, {NO_CLASS: "(target >= C)"}),
    ),
    Mistake(
        "smoothing_not_checked",
        "a label_smoothing outside [0, 1] is accepted; raise ValueError",
        {"if not 0 <= label_smoothing <= 1:": "if False:"},
    ),
    Mistake(
        "negative_smoothing_only",
        "a label_smoothing above 1 is accepted; raise ValueError",
        {"if not 0 <= label_smoothing <= 1:": "if label_smoothing < 0:"},
    ),
    Mistake(
        "large_smoothing_only",
        "a label_smoothing below 0 does not raise ValueError; refuse it as well as one above 1",
        {"if not 0 <= label_smoothing <= 1:": "if label_smoothing > 1:"},
        also=(
            {
                "if not 0 <= label_smoothing <= 1:": "if label_smoothing > 1:",
                "if label_smoothing > 0:": "if label_smoothing:",
            },
        ),
    ),
    Mistake(
        "half_returned_as_float32",
        "half precision comes back as float32; cast the result back to the dtype of the logits",
        {RESULT: "return loss"},
    ),
    Mistake(
        "weight_length_not_checked",
        "a weight of the wrong length is accepted if it has an entry for each target; raise ValueError",
        {"if weight is not None and weight.shape != (C,):": "if False:"},
    ),
    Mistake(
        "short_weight_only",
        "a weight that is too long is accepted; raise ValueError unless it has exactly C entries",
        {"weight.shape != (C,):": "len(weight) < C:"},
    ),
    Mistake(
        "reduction_not_checked",
        "an unknown reduction gives the mean; raise ValueError",
        {'if reduction not in ("mean", "sum", "none"):': "if False:"},
    ),
    Mistake(
        "numpy_inside",
        "the logits go through numpy, which cuts off the gradient; stay in torch",
        {Z: "z = torch.from_numpy(logits.detach().numpy()).to(wide)"},
    ),
    Mistake(
        "calls_the_builtin",
        "torch's own function does the work; write it by hand",
        {
            "    " + W: "    return torch.nn.functional.cross_entropy(\n"
            "        logits, target, weight, None, ignore_index, None, reduction, label_smoothing\n    )\n    " + W
        },
    ),
    Mistake(
        "calls_log_softmax",
        "torch's log_softmax does half of the work; write it by hand",
        {LOG_P: "log_p = shifted.log_softmax(dim=1)"},
    ),
    Mistake(
        "loop_over_rows",
        "a Python loop goes over the rows; amax, sum and gather take all of them at once",
        {
            SHIFTED: "rows = [z - z.max() for z in logits]",
            LOG_P: "log_p = torch.stack([z - z.exp().sum().log() for z in rows])",
        },
        slow=True,
    ),
    Mistake(
        "indexed_row_by_row",
        "a Python loop picks the target's entry out of the whole table for one row after the other, "
        "and each pick has a gradient as large as the table; use gather",
        {LOSS: "torch.stack([-w[y[n]] * log_p[n, y[n]] for n in range(N)])"},
        slow=True,
    ),
    Mistake(
        "mask_filled_in_a_loop",
        "a Python loop marks the target of one row after the other in a mask; gather picks them all out",
        {
            Y: f"{Y}\n    mask = torch.zeros(N, C, dtype=torch.bool)\n"
            "    for n, c in enumerate(y):\n        mask[n, c] = True",
            LOSS: "-w[y] * torch.where(mask, log_p, 0).sum(dim=1)",
        },
        slow=True,
    ),
    Mistake(
        "all_pairs_of_rows",
        "indexing with [:, y] pairs every row with every target, though only the diagonal is wanted; use gather",
        {LOSS: "-w[y] * log_p[:, y].diagonal()"},
        slow=True,
    ),
)

# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{WIDE} -> wide = torch.promote_types(torch.float32, logits.dtype)": "the wider of two dtypes is the same",
    f"{WIDE} -> wide = logits.dtype": "no case adds up 65 504 classes in float16, since torch's own cross_entropy "
    "overflows there",
    f"{Z} -> z = logits": "no case adds up 65 504 classes in float16, since torch's own cross_entropy overflows there",
    f"{W} -> {W.replace('.to(wide)', '')}": "weights come in the dtype of the logits, and rows enough for a sum of "
    "float16 weights to end are not asked",
    "not_refused_1": "N, C = "
    "logits.shape raises a ValueError of its own for any other number of axes; only its message says less",
}

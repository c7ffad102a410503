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
Y = "y = torch.where(counts, target, 0)"
MASKED_FIRST = {IF_SMOOTHED: "    " + IGNORED + IF_SMOOTHED, "    " + IGNORED + "    if reduction": "    if reduction"}
ONE_HOT = "torch.nn.functional.one_hot(y, C)"
NARROW = {Z: "z = logits"}  # as most people have it, which shows where float16 ends


def log_of(probability: str) -> dict[str, str]:
    return NARROW | {LOG_P: f"log_p = {probability.replace('p', 'torch.softmax(shifted, dim=1)', 1)}.log()"}


def with_eps(eps: str) -> str:
    return LOG_P.replace("shifted.exp()", "(shifted.exp()").replace(").log()", f") + {eps}).log()")


def if_none(result: str) -> dict[str, str]:
    return {"return …": f'return {result} if reduction == "none" else loss.to(logits.dtype)'}


def smoothed(by: str) -> list[dict[str, str]]:
    """Also where ε is 0, as most people have it."""
    return [{SMOOTHED: by}, {IF_SMOOTHED: "    loss = ", SMOOTHED: by}]


def smoothed_by(others: str) -> dict[str, str]:
    """The smoothing term over the other classes alone, of the share that each of them gets."""
    return {SMOOTHED: f"(1 - label_smoothing) * loss - {others} * ((w * log_p).sum(dim=1) + loss)"}


MISTAKES = (
    Mistake(
        "no_max_shift",
        "exp overflows, or underflows for a whole row; subtract each row's largest logit first",
        {**NARROW, SHIFTED: "shifted = z"},
    ),
    Mistake("cast_but_not_shifted", {SHIFTED: f"{SHIFTED} * (logits.dtype.itemsize > 2)"}),
    Mistake(
        "one_shift_for_all_rows",
        "the largest logit of the whole batch is subtracted, so rows far below it underflow; subtract each row's "
        "largest logit",
        {**NARROW, SHIFTED: "shifted = z - z.amax()"},
    ),
    Mistake(
        "log_of_softmax",
        "the log is taken of the softmax, which is 0 where a logit is far below the largest; work from the logits",
        {LOG_P: "log_p = torch.softmax(shifted, dim=1).log()"},
    ),
    Mistake(
        "eps_in_the_log",
        "a small constant such as 1e-9 is added inside the log; find the log-softmax from the logits, without a "
        "constant",
        log_of("(p + 1e-9)"),
        *(log_of(f"(p + {eps})") for eps in ("1e-6", "1e-7", "1e-8", "1e-10", "1e-12")),
    ),
    Mistake(
        "eps_in_the_sum", *({LOG_P: with_eps(eps), **narrow} for eps in ("1e-8", "1e-6") for narrow in ({}, NARROW))
    ),
    Mistake(
        "probability_clamped",
        "the softmax is clamped before the log, which kills the gradient where it is most needed; work from the logits",
        log_of("p.clamp(1e-7, 1 - 1e-7)"),
        *(log_of(f"p.clamp_min({least})") for least in ("1e-7", "1e-8", "1e-9", "1e-10", "1e-12")),
    ),
    Mistake(
        "softmax_over_the_batch",
        "the probabilities are normalised over the samples; normalise over the classes, axis 1",
        {SHIFTED: SHIFTED.replace("dim=1", "dim=0"), LOG_P: LOG_P.replace("dim=1", "dim=0")},
    ),
    Mistake("sign_lost", {LOSS: LOSS[1:], SMOOTHED: SMOOTHED.replace("loss - ", "loss + ")}, {LOSS: LOSS[1:]}),
    Mistake(
        "mean_over_rows",
        "the mean divides by a number of rows; divide by the sum of the weights of the targets that are not ignored",
        {DIVISOR: ["counts.sum()", "N"]},
    ),
    Mistake(
        "mean_over_classes",
        "the mean divides by the number of classes or of logits, or by all classes' weights; divide by the sum of the "
        "weights of the targets that are not ignored",
        {DIVISOR: ["C", "(N * C)", "w.sum()"]},
    ),
    Mistake(
        "mean_counts_ignored_rows",
        "the mean divides by a sum that includes the weights of ignored rows; leave them out",
        {DIVISOR: "w[y].sum()"},
        {DIVISOR: "(w[y[counts]] if weight is None else w[y]).sum()"},
    ),
    Mistake(
        "mean_by_smoothed_weights",
        "the mean divides by the weights that the smoothed targets give; smoothing does not change the divisor, the "
        "sum of the targets' own weights",
        {DIVISOR: "((1 - label_smoothing) * w[y[counts]] + label_smoothing * w.mean()).sum()"},
    ),
    Mistake(
        "smoothing_averaged_over_rows",
        "the mean divides the smoothing term by the number of rows, and only the rest by weights; divide both by the "
        "sum of the weights of the targets that are not ignored",
        {
            IF_SMOOTHED: f'    each = w[y[counts]].mean() if reduction == "mean" else 1\n{IF_SMOOTHED}',
            SMOOTHED: f"{SMOOTHED} * each",
        },
    ),
    Mistake(
        "divisor_at_least_one",
        "the mean divides by at least 1, but the targets' weights may add up to less than 1; divide by their sum",
        {DIVISOR: f"{DIVISOR}.clamp_min(1)"},
    ),
    Mistake(
        "weights_left_out",
        "the class weights are not used at all; weight each log-probability, and for the mean divide by the sum of "
        "the targets' weights",
        {W: "w = z.new_ones(C)"},
    ),
    Mistake(
        "weights_only_in_the_mean",
        "the mean divides by weights, but the targets' log-probabilities have none; weight each of them",
        {LOSS: LOSS.replace("w[y] * ", "")},
        {LOSS: LOSS.replace("w[y] * ", ""), SMOOTHED: SMOOTHED.replace("(w * log_p)", "log_p")},
    ),
    Mistake(
        "none_unweighted",
        'reduction="none" leaves the class weights out; each row\'s loss is weighted, whatever the reduction',
        {W: W.replace("is None", 'is None or reduction == "none"')},
    ),
    Mistake(
        "weights_applied_twice",
        "the losses are multiplied by the targets' weights twice; once is enough",
        {LOSS: LOSS.replace("w[y]", "w[y].square()")},
        {IGNORED: f"loss = w[y] * loss\n    {IGNORED}"},
    ),
    Mistake(
        "logits_weighted",
        "the weights multiply the logits, which changes the softmax; weight the log-probabilities",
        *({SHIFTED: "z = z * w\n    " + SHIFTED} | more for more in ({}, {LOSS: LOSS.replace("w[y] * ", "")})),
    ),
    Mistake(
        "logits_as_log_probabilities",
        "the logits are taken for log-probabilities; subtract the log of the sum of their exponentials",
        {LOG_P: ["log_p = z", "log_p = shifted"]},
    ),
    Mistake(
        "log_left_out",
        "a log is missing: the sum of the exponentials is subtracted as it is, or the probability is the loss; take "
        "the log of the softmax",
        {LOG_P: LOG_P.replace(".log()", "")},
        {LOG_P: LOG_P.replace("log_p = ", "log_p = (") + ").exp()"},
        {LOSS: LOSS.replace(".squeeze(1)", ".squeeze(1).exp()")},
    ),
    Mistake(
        "exponentials_averaged",
        "the softmax divides by the mean of the exponentials; divide by their sum",
        {LOG_P: LOG_P.replace(".sum(", ".mean(")},
    ),
    Mistake(
        "bits",
        "the loss is in bits; use the natural logarithm",
        {LOG_P: LOG_P.replace("log_p = ", "log_p = 1.4426950408889634 * (") + ")"},
        {LOSS: f"{LOSS} * 1.4426950408889634"},
    ),
    Mistake(
        "none_reduced",
        'reduction="none" gives one number; return the loss of each row',
        if_none("loss.mean().to(logits.dtype)"),
        if_none("loss.sum().to(logits.dtype)"),
    ),
    Mistake(
        "ignored_row_looked_up",
        "an ignored row's target is used as an index, but it need not be a class; use any class there, and set the "
        "loss to 0",
        {Y: "y = target.clamp(min=0)"},
        {Y: "y = target.clamp(min=0)", LOSS: LOSS.replace("-w[y] * ", "-") + " * w[y]"},
        {Y: "y = target"},
    ),
    Mistake(
        "ignored_rows_counted",
        "ignored rows add the loss of some class; give them a loss of 0 and a weight of 0 in the mean",
        {IGNORED: "pass\n", DIVISOR: "w[y].sum()"},
        {IGNORED: "pass\n"},
    ),
    Mistake(
        "ignored_rows_smoothed",
        "ignored rows still add the smoothing term; give them a loss of 0 after smoothing",
        MASKED_FIRST,
        MASKED_FIRST | {Z: "z = torch.where(counts[:, None], logits.to(wide), 0)"},
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
        {"counts = …": "counts = target != -100"},
        {"counts = …": "counts = target != -100", "if ((target < 0) | (target >= C))[counts].any():": "if False:"},
        {
            "counts = …": "counts = target != -100",
            "if ((target < 0) | (target >= C))[counts].any():": "if False:",
            LOSS: "-w[y] * log_p[torch.arange(N), y]",
        },
    ),
    Mistake(
        "negative_targets_ignored",
        "every negative target is ignored; ignore only ignore_index, and refuse other targets that are no class",
        {"counts = …": "counts = (target != ignore_index) & (target >= 0)"},
    ),
    Mistake(
        "negative_targets_from_the_end",
        "a negative target is looked up from the end; of the negative targets, refuse all but ignore_index",
        {"(target < 0) | (target >= C)": "target >= C", LOSS: "-w[y] * log_p[torch.arange(N), y]"},
    ),
    Mistake(
        "smoothed_with_the_complement",
        "smoothing mixes the one-hot target q with 1 − q; mix q with 1/C for every class, the right one included",
        smoothed_by("label_smoothing"),
    ),
    Mistake(
        "spread_over_the_others",
        "the smoothing share is spread over the C − 1 other classes; spread it over all C",
        smoothed_by("label_smoothing / (C - 1 or 1)"),
        smoothed_by("label_smoothing / torch.tensor(C - 1.0, dtype=z.dtype)"),
        {IF_SMOOTHED: "    loss = "} | smoothed_by("label_smoothing / torch.tensor(C - 1.0, dtype=z.dtype)"),
    ),
    Mistake(
        "divided_by_one_class_less",
        "smoothing gives ε / (C − 1) to every class, the right one included; give each class ε / C",
        *smoothed(SMOOTHED.replace("/ C * (w * log_p).sum(dim=1)", "* ((w * log_p).sum(dim=1) / (C - 1))")),
        {SMOOTHED: SMOOTHED.replace("/ C", "/ (C - 1 or 1)")},
    ),
    Mistake(
        "smoothing_ignored", "label_smoothing is ignored; mix ε / C of each class into the loss", {SMOOTHED: "loss"}
    ),
    Mistake(
        "share_counted_twice",
        "the target gets ε / C on top of a sum over all classes, which has that share already; give it 1 − ε besides",
        *smoothed(SMOOTHED.replace("(1 - label_smoothing)", "(1 - label_smoothing + label_smoothing / C)")),
    ),
    Mistake(
        "entropy_subtracted",
        "with smoothing, the entropy of q is subtracted, which gives the divergence KL(q ‖ p); leave it out",
        {
            SMOOTHED: f"{SMOOTHED}\n"
            f"        q = (1 - label_smoothing) * {ONE_HOT}.to(wide) + label_smoothing / C\n"
            "        loss = loss + (w * q * q.log()).sum(dim=1)"
        },
    ),
    Mistake(
        "target_keeps_its_share",
        "smoothing adds to the target's full share; multiply that share by 1 − ε",
        *smoothed(SMOOTHED.replace("(1 - label_smoothing) * ", "")),
    ),
    Mistake(
        "smoothing_summed",
        "each class gets the whole smoothing share; divide it by the number of classes",
        *smoothed(SMOOTHED.replace(" / C", "")),
    ),
    Mistake(
        "smoothing_unweighted",
        "the smoothing term has no weights, or only the target's; multiply each class's log-probability by its weight",
        {SMOOTHED: SMOOTHED.replace("(w * log_p)", "log_p")},
        {SMOOTHED: SMOOTHED.replace("(w * log_p)", "(w[y][:, None] * log_p)")},
    ),
    Mistake(
        "one_hot_in_float32",
        "one-hot rows are integers, and become float32 when multiplied by 1 − ε; convert them to the logits' dtype "
        "first",
        {SMOOTHED: f"-(({ONE_HOT} * (1 - label_smoothing) + label_smoothing / C) * w * log_p).sum(dim=1)"},
    ),
    Mistake(
        "masked_by_a_product",
        "the loss of an ignored row is multiplied by 0, and 0 times an infinite loss is NaN; use torch.where",
        {IGNORED: "loss = loss * counts\n"},
    ),
    Mistake(
        "zero_times_infinity",
        "0 is multiplied by the −∞ of an impossible class; leave the smoothing term out where ε is 0, "
        "and pick the target's entry out rather than multiply by a one-hot row",
        {IF_SMOOTHED: "    if True:\n        loss = "},
        {LOSS: "-w[y] * (torch.zeros_like(log_p).scatter(1, y[:, None], 1) * log_p).sum(dim=1)"},
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
        "calls_log_softmax",
        "torch's log_softmax does half of the work; write it by hand",
        {LOG_P: "log_p = shifted.log_softmax(dim=1)"},
    ),
    Mistake(
        "row_by_row",
        "a Python loop goes over the rows or classes; amax, sum and gather take all of them at once",
        {LOSS: "torch.stack([-w[y[n]] * log_p[n, y[n]] for n in range(N)])"},
        {
            SHIFTED: "rows = [z - z.max() for z in logits]",
            LOG_P: "log_p = torch.stack([z - z.exp().sum().log() for z in rows])",
        },
        {LOSS: LOSS.replace("w[y]", "sum((y == c) * w[c] for c in range(C))")},
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
IN_FLOAT16 = "no case adds up 65 504 classes in float16, since torch's own cross_entropy overflows there"
EQUIVALENT: dict[str, str] = {
    f"{WIDE} -> wide = torch.promote_types(torch.float32, logits.dtype)": "the wider of two dtypes is the same",
    f"{WIDE} -> wide = logits.dtype": IN_FLOAT16,
    f"{Z} -> z = logits": IN_FLOAT16,
    f"{W} -> {W.replace('.to(wide)', '')}": "weights come in the dtype of the logits, and no case has so "
    "many rows that the sum of its float16 weights overflows",
    "not_refused_1": "`N, C = logits.shape` raises a ValueError of its own for any other number of axes; only its "
    "message says less",
}

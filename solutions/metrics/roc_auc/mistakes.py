"""Known wrong answers to roc_curve and roc_auc."""

from graders.kata import Mistake

LENGTHS = "    if y_true.shape != y_score.shape:\n"
NAN = "    if y_score.isnan().any():\n"
POSITIVE = "positive = y_true == 1"
LABELS = "    if not (positive | (y_true == 0)).all():\n"
CLASSES = "    if not 0 < positive.sum() < len(positive):\n"
SORTED = "score, order = y_score.sort(descending=True)"
ORDERED = "positive = positive[order].double()"
LAST = "torch.cat([score[1:] != score[:-1], torch.ones_like(order[:1], dtype=torch.bool)])"
TRUE_POSITIVES = "torch.cat([start, positive.cumsum(0)[last]])"
FALSE_POSITIVES = "torch.cat([start, (1 - positive).cumsum(0)[last]])"
THRESHOLDS = "torch.cat([score.new_full((1,), torch.inf), score[last]])"
CURVE = "return false_positives / false_positives[-1], true_positives / true_positives[-1], thresholds"
FPR, TPR = "false_positives / false_positives[-1]", "true_positives / true_positives[-1]"
BACKWARDS = CURVE.replace(FPR, f"({FPR}).flip(0)").replace(TPR, f"({TPR}).flip(0)") + ".flip(0)"
UNPACKED = "fpr, tpr, _ = roc_curve(y_true, y_score)"
AREA = "return torch.trapezoid(tpr, fpr)"
FLAT = {POSITIVE: "y_true, y_score = y_true.flatten(), y_score.flatten()\n    positive = y_true == 1"}
POINTS = {  # the origin is put in front of the rates, not of the counts: without a class the first one is 0, not NaN
    TRUE_POSITIVES: "positive.cumsum(0)[last]",
    FALSE_POSITIVES: "(1 - positive).cumsum(0)[last]",
    CURVE: f"return torch.cat([start, {FPR}]), torch.cat([start, {TPR}]), thresholds",
}
RANKS = "ranks = torch.empty_like(y_score, dtype=torch.float64)"

MISTAKES = (
    Mistake(
        "one_point_per_sample",
        "every sample has a point of its own, so that the order of equal scores matters; keep one per distinct score",
        {LAST: "torch.ones_like(order, dtype=torch.bool)"},
        also=(  # the order of equal scores is another one
            {
                "descending=True": "descending=True, stable=True",
                LAST: "torch.ones_like(order, dtype=torch.bool)",
            },
        ),
    ),
    Mistake(
        "first_of_each_tie",
        "the counts are taken at the first sample of a run of equal scores; take them at its last",
        {LAST: "torch.cat([torch.ones_like(order[:1], dtype=torch.bool), score[1:] != score[:-1]])"},
    ),
    Mistake(
        "scores_above_the_threshold",
        "samples that score just the threshold are left out; s >= t accepts them",
        {
            LAST: LAST + "\n    first = last.roll(1)",
            TRUE_POSITIVES: "torch.cat([start, (positive.cumsum(0) - positive)[first]])",
            FALSE_POSITIVES: "torch.cat([start, ((1 - positive).cumsum(0) - (1 - positive))[first]])",
            FPR: "false_positives / (1 - positive).sum()",
            TPR: "true_positives / positive.sum()",
        },
    ),
    Mistake(
        "ascending_thresholds",
        "the scores are sorted upwards and the samples below each threshold counted; sort them by descending score",
        {"descending=True": "descending=False"},
    ),
    Mistake(
        "points_backwards",
        "the points go from (1, 1) down to (0, 0); begin with the threshold +inf",
        {CURVE: BACKWARDS},
        also=({CURVE: BACKWARDS, AREA: "return -torch.trapezoid(tpr, fpr)"},),
    ),
    Mistake(
        "no_origin",
        "the point (0, 0) is missing; put the threshold +inf, which accepts nothing, in front",
        {
            TRUE_POSITIVES: "positive.cumsum(0)[last]",
            FALSE_POSITIVES: "(1 - positive).cumsum(0)[last]",
            THRESHOLDS: "score[last]",
        },
    ),
    Mistake(
        "no_last_point",
        "the point (1, 1) is missing; the least score is a threshold too",
        {CURVE: CURVE.replace(FPR, f"({FPR})[:-1]").replace(TPR, f"({TPR})[:-1]") + "[:-1]"},
    ),
    Mistake(
        "last_point_twice",
        "a threshold is added below the least score, which accepts no more than that does; leave it out",
        {
            CURVE: "thresholds = torch.cat([thresholds, thresholds[-1:] - 1])\n"
            "    false_positives = torch.cat([false_positives, false_positives[-1:]])\n"
            "    true_positives = torch.cat([true_positives, true_positives[-1:]])\n    " + CURVE
        },
    ),
    Mistake(
        "largest_score_plus_one",
        "the first threshold is the largest score plus 1, as in old versions of scikit-learn; it should be +inf",
        {THRESHOLDS: "torch.cat([score[:1] + 1, score[last]])"},
    ),
    Mistake(
        "points_on_a_line_dropped",
        "points on a straight line between others are dropped; keep one point per distinct score",
        {
            CURVE: "bends = false_positives.diff(n=2).ne(0) | true_positives.diff(n=2).ne(0)\n"
            "    kept = torch.cat([torch.ones(1, dtype=torch.bool), bends, torch.ones(1, dtype=torch.bool)])\n"
            "    thresholds, end, last = thresholds[kept], false_positives[-1], true_positives[-1]\n"
            "    return false_positives[kept] / end, true_positives[kept] / last, thresholds"
        },
        also=(  # as scikit-learn does it, before the origin is put in front
            {
                **POINTS,
                CURVE: """\
kept = torch.ones_like(true_positives, dtype=torch.bool)
    if len(kept) > 2:
        kept[1:-1] = false_positives.diff(n=2).ne(0) | true_positives.diff(n=2).ne(0)
    thresholds = torch.cat([thresholds[:1], thresholds[1:][kept]])
    fpr, tpr = false_positives[kept] / false_positives[-1], true_positives[kept] / true_positives[-1]
    return torch.cat([start, fpr]), torch.cat([start, tpr]), thresholds""",
            },
        ),
    ),
    Mistake(
        "grid_of_thresholds",
        "the thresholds are a grid from 1 to 0; they should be the scores themselves, whatever their range",
        {
            CURVE: "thresholds = torch.linspace(1, 0, 101).to(y_score.dtype)\n"
            "    accepted = torch.searchsorted(-score.double(), -thresholds.double(), right=True)\n"
            "    seen = torch.cat([start, positive.cumsum(0)])[accepted]\n"
            "    return (accepted - seen) / (1 - positive).sum(), seen / positive.sum(), thresholds"
        },
    ),
    Mistake(
        "rates_swapped",
        "the two rates are swapped; FPR counts the samples of label 0, TPR those of label 1",
        {CURVE: f"return {TPR}, {FPR}, thresholds"},
        also=({CURVE: f"return {TPR}, {FPR}, thresholds", UNPACKED: UNPACKED.replace("fpr, tpr", "tpr, fpr")},),
    ),
    Mistake(
        "precision_for_fpr",
        "the false positives are divided by all that were accepted; the FPR divides them by all samples of label 0",
        {FPR: "false_positives / (false_positives + true_positives).clamp_min(1)"},
    ),
    Mistake(
        "divided_by_all",
        "both counts are divided by the number of samples; divide each by the size of its class",
        {FPR: "false_positives / len(order)", TPR: "true_positives / len(order)"},
    ),
    Mistake(
        "classes_mixed_up",
        "each count is divided by the size of the other class; divide the true positives by the positives",
        {FPR: "false_positives / true_positives[-1]", TPR: "true_positives / false_positives[-1]"},
    ),
    Mistake(
        "sorted_by_label_too",
        "among equal scores the positives are put first and each sample has its own point; equal scores are one point",
        {
            SORTED: "order = y_true.long().argsort(descending=True, stable=True)\n"
            "    order = order[y_score[order].argsort(descending=True, stable=True)]\n    score = y_score[order]",
            LAST: "torch.ones_like(order, dtype=torch.bool)",
        },
    ),
    Mistake(
        "ties_by_isclose",
        "scores that are merely close are taken for equal; only equal ones are ties",
        {LAST: "torch.cat([~torch.isclose(score[1:], score[:-1]), torch.ones_like(order[:1], dtype=torch.bool)])"},
    ),
    Mistake(
        "sigmoid_of_the_scores",
        "the scores go through a sigmoid, which makes large ones equal and changes the thresholds; leave them alone",
        {SORTED: "score, order = y_score.sigmoid().sort(descending=True)"},
        also=(  # as torchmetrics does it
            {
                SORTED: "outside = ((y_score < 0) | (y_score > 1)).any()\n"
                "    score, order = (y_score.sigmoid() if outside else y_score).sort(descending=True)"
            },
        ),
    ),
    Mistake(
        "float32_scores",
        "the scores are compared in float32, where near ones become equal; compare them in their own dtype",
        {SORTED: "score, order = y_score.float().sort(descending=True)\n    score = score.to(y_score.dtype)"},
        also=({SORTED: "score, order = y_score.float().sort(descending=True)"},),
    ),
    Mistake(
        "counts_in_the_scores_dtype",
        "the counts are kept in the dtype of the scores, and float16 ends at 65 504; count in integers or float64",
        {
            ORDERED: "positive = positive[order].to(y_score.dtype)",
            AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
        },
    ),
    Mistake(
        "area_of_the_rounded_curve",
        "the area is taken from rates rounded to the dtype of the scores; take it from counts or float64 rates",
        {
            CURVE: CURVE.replace(FPR, f"({FPR}).to(score.dtype)").replace(TPR, f"({TPR}).to(score.dtype)"),
            AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
        },
    ),
    Mistake(
        "integers_divided",
        "integer counts are divided, which gives float32 whatever the scores are; divide as float64",
        {ORDERED: "positive = positive[order].long()"},
    ),
    Mistake(
        "rates_in_float32",
        "the rates are divided in float32 and made float64 too late; divide as float64",
        {
            ORDERED: "positive = positive[order].float()",
            CURVE: CURVE.replace(FPR, f"({FPR}).double()").replace(TPR, f"({TPR}).double()"),
        },
        also=(
            {
                ORDERED: "positive = positive[order].float()",
                AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
            },
            {ORDERED: "positive = positive[order].float()", AREA: "return torch.trapezoid(tpr, fpr).double()"},
        ),
    ),
    Mistake(
        "area_in_float32",
        "the area is added up in float32; it should be as exact as float64 allows",
        {AREA: "return torch.trapezoid(tpr.float(), fpr.float()).double()"},
    ),
    Mistake(
        "area_in_the_scores_dtype",
        "the area comes back in the dtype of the scores; it should be float64 whatever they are",
        {AREA: "return torch.trapezoid(tpr, fpr).to(y_score.dtype)"},
    ),
    Mistake(
        "area_as_a_number",
        "the area comes back as a Python number; return it as a tensor",
        {AREA: "return torch.trapezoid(tpr, fpr).item()"},
    ),
    Mistake(
        "lower_steps",
        "the area is that of steps at the height of the left end, which gives ties nothing; use trapezoids",
        {AREA: "return (fpr.diff() * tpr[:-1]).sum()"},
    ),
    Mistake(
        "upper_steps",
        "the area is that of steps at the height of the right end, which gives ties 1; use trapezoids, which give half",
        {AREA: "return (fpr.diff() * tpr[1:]).sum()"},
    ),
    Mistake(
        "mean_of_the_tpr",
        "the area is the mean of the TPR, as if all points were equally far apart; weight it by the steps of the FPR",
        {AREA: "return tpr.mean()"},
    ),
    Mistake(
        "axes_swapped",
        "the area is taken along the TPR; integrate the TPR over the FPR",
        {AREA: "return torch.trapezoid(fpr, tpr)"},
    ),
    Mistake(
        "never_below_a_half",
        "an area below a half is turned into 1 minus it; a score that ranks backwards should get less than a half",
        {AREA: "area = torch.trapezoid(tpr, fpr)\n    return torch.maximum(area, 1 - area)"},
    ),
    Mistake(
        "gini",
        "the Gini coefficient 2 AUC - 1 is returned; return the area itself",
        {AREA: "return 2 * torch.trapezoid(tpr, fpr) - 1"},
    ),
    Mistake(
        "ranks_without_ties",
        "the area comes from ranks that tell equal scores apart; equal scores share the mean of their ranks",
        {
            UNPACKED: UNPACKED + f"\n    {RANKS}\n    order = y_score.argsort(stable=True)"
            "\n    ranks[order] = torch.arange(1, len(order) + 1, dtype=torch.float64)"
            "\n    P = int((y_true == 1).sum())",
            AREA: "return (ranks[y_true == 1].sum() - P * (P + 1) / 2) / (P * (len(order) - P))",
        },
        also=(  # the order of equal scores is another one
            {
                UNPACKED: UNPACKED
                + "\n    ranks = y_score.argsort().argsort().double() + 1\n    P = int((y_true == 1).sum())",
                AREA: "return (ranks[y_true == 1].sum() - P * (P + 1) / 2) / (P * (len(ranks) - P))",
            },
        ),
    ),
    Mistake(
        "pairs_in_32_bits",
        "the number of pairs is multiplied out in 32-bit integers, which end at 2 147 483 647; use 64 bits or float64",
        {
            UNPACKED: UNPACKED + "\n    P, N = (y_true == 1).sum().int(), (y_true == 0).sum().int()",
            AREA: "return (torch.trapezoid(tpr * P, fpr * N) / (P * N)).double()",
        },
    ),
    Mistake(
        "every_pair_at_once",
        "every positive is compared with every negative at once, which needs N² memory; sort instead",
        {
            AREA: "higher = y_score[y_true == 1][:, None] - y_score[y_true == 0]\n"
            "    return (higher > 0).double().mean() + (higher == 0).double().mean() / 2"
        },
    ),
    Mistake(
        "bool_labels_unsupported",
        "labels are subtracted from 1 in their own dtype, which bool does not allow; cast or compare them",
        {POSITIVE: "positive = (1 - y_true) == 0"},
    ),
    Mistake(
        "inverted_bitwise",
        "the negatives are found by ~ on integer labels, which flips every bit; compare the labels with 0",
        {FALSE_POSITIVES: "torch.cat([start, (~y_true[order]).double().cumsum(0)[last]])"},
    ),
    Mistake(
        "counts_in_the_labels_dtype",
        "the labels are added up in their own dtype, and 8 bits end at 127 or 255; count in 64 bits",
        {
            ORDERED: "positive = positive[order].to(torch.uint8 if y_true.dtype == torch.bool else y_true.dtype)",
            TRUE_POSITIVES: "torch.cat([start, positive.cumsum(0, dtype=positive.dtype)[last]])",
            FALSE_POSITIVES: "torch.cat([start, (1 - positive).cumsum(0, dtype=positive.dtype)[last]])",
        },
    ),
    Mistake(
        "lengths_unchecked",
        "lengths that differ do not raise ValueError; compare them first",
        {LENGTHS: "    if False:\n"},
    ),
    Mistake(
        "columns_accepted",
        "labels and scores of different shapes go through as long as there are as many of both, such as a column of "
        "them; compare the shapes",
        {LENGTHS: "    if y_true.numel() != y_score.numel():\n", **FLAT},
        also=(
            {LENGTHS: "    if y_true.ndim != 1 or y_true.numel() != y_score.numel():\n", **FLAT},
            {LENGTHS: "    if y_score.ndim != 1 or y_true.numel() != y_score.numel():\n", **FLAT},
        ),
    ),
    Mistake(
        "labels_unchecked",
        "labels other than 0 and 1 are counted as negatives; raise ValueError",
        {LABELS: "    if False:\n"},
    ),
    Mistake(
        "only_large_labels_refused",
        "labels above 1 raise ValueError but negative ones do not; only 0 and 1 are labels",
        {LABELS: "    if (y_true > 1).any():\n"},
        also=({LABELS: "    if (y_true > 1).any():\n", CLASSES: "    if y_true.unique().numel() < 2:\n", **POINTS},),
    ),
    Mistake(
        "any_two_labels",
        "two labels other than 0 and 1, such as -1 and 1, go through; raise ValueError",
        {LABELS: "    if y_true.unique().numel() > 2:\n"},
        also=(
            {POSITIVE: "positive = y_true == y_true.unique()[-1:]", LABELS: "    if y_true.unique().numel() > 2:\n"},
        ),
    ),
    Mistake(
        "one_class_unchecked",
        "a class without samples gives 0/0; raise ValueError",
        {CLASSES: "    if not len(positive):\n"},
        also=({CLASSES: "    if not len(positive):\n", **POINTS},),
    ),
    Mistake(
        "no_positives_only",
        "no positives raise ValueError but no negatives do not; both classes should occur",
        {CLASSES: "    if not 0 < positive.sum():\n"},
        also=({CLASSES: "    if not 0 < positive.sum():\n", **POINTS},),
    ),
    Mistake(
        "no_negatives_only",
        "no negatives raise ValueError but no positives do not; both classes should occur",
        {CLASSES: "    if positive.sum() == len(positive):\n"},
        also=({CLASSES: "    if positive.sum() == len(positive):\n", **POINTS},),
    ),
    Mistake(
        "empty_unchecked",
        "no samples at all do not raise ValueError; check the length before anything else",
        {CLASSES: "    if len(positive) and not 0 < positive.sum() < len(positive):\n"},
        also=(
            {CLASSES: "    if (y_true == y_true[0]).all():\n"},
            {CLASSES: "    if y_true.min() == y_true.max():\n"},
        ),
    ),
    Mistake(
        "nan_unchecked",
        "a NaN among the scores goes through, though NaN cannot be ranked; raise ValueError",
        {NAN: "    if False:\n"},
    ),
    Mistake(
        "nan_only_if_all",
        "NaN raises only where every score is NaN; one is enough",
        {NAN: "    if len(y_score) and y_score.isnan().all():\n"},
    ),
    Mistake(
        "input_overwritten",
        "the sorted scores are written into the caller's tensor; leave y_score as it is",
        {SORTED: "order = y_score.argsort(descending=True)\n    score = y_score.copy_(y_score[order])"},
    ),
    Mistake(
        "calls_a_library",
        "scikit-learn does the work; write it by hand",
        {
            "import torch\n": "import torch\nfrom sklearn.metrics import roc_curve as library\n",
            CURVE: "rates = library(y_true.int().tolist(), y_score.tolist(), drop_intermediate=False)\n"
            "    return tuple(torch.tensor(each.tolist(), dtype=torch.float64) for each in rates)",
        },
    ),
    Mistake(
        "loop_over_samples",
        "a Python loop counts one sample after the other; cumsum counts them all",
        {
            ORDERED: "seen = [0]\n"
            "    for label in positive[order].tolist():\n"
            "        seen.append(seen[-1] + label)\n"
            "    positive = torch.tensor(seen, dtype=torch.float64).diff()",
        },
        slow=True,
    ),
    Mistake(
        "sorted_as_lists",
        "the samples are sorted as a list of Python's pairs; let the tensor sort itself",
        {
            SORTED: "pairs = sorted(zip(y_score.tolist(), positive.tolist()), reverse=True)\n"
            "    score, positive = torch.tensor(pairs, dtype=torch.float64).unbind(1)\n"
            "    score, order = score.to(y_score.dtype), torch.arange(len(pairs))",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_thresholds",
        "a Python loop goes through all samples for every threshold; sort once, then cumsum counts for all thresholds",
        {
            TRUE_POSITIVES: "torch.stack([((score >= t) & (positive == 1)).sum() for t in thresholds]).double()",
            FALSE_POSITIVES: "torch.stack([((score >= t) & (positive == 0)).sum() for t in thresholds]).double()",
            f"    thresholds = {THRESHOLDS}": "",
            "positive = positive[order].double()": "positive = positive[order]",
            "start = positive.new_zeros(1)": f"thresholds = {THRESHOLDS}",
        },
        slow=True,
    ),
    Mistake(
        "every_threshold_at_once",
        "every score is compared with every threshold at once, a table of N × K; sort once, then cumsum",
        {
            TRUE_POSITIVES: "(accepted & (positive == 1)).sum(dim=1).double()",
            FALSE_POSITIVES: "(accepted & (positive == 0)).sum(dim=1).double()",
            f"    thresholds = {THRESHOLDS}": "",
            "start = positive.new_zeros(1)": f"thresholds = {THRESHOLDS}\n    accepted = score >= thresholds[:, None]",
        },
        slow=True,
    ),
    Mistake(
        "trapezoids_in_a_loop",
        "a Python loop adds up the trapezoids under the curve; trapezoid, or diff and sum, take them all",
        {AREA: "return sum((fpr[i] - fpr[i - 1]) * (tpr[i] + tpr[i - 1]) / 2 for i in range(1, len(fpr)))"},
        slow=True,
    ),
)

COUNTED = (f"true_positives = {TRUE_POSITIVES}", f"false_positives = {FALSE_POSITIVES}")
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{line} -> {line.replace('cumsum(0)', 'cumsum(-1)')}": "labels have one axis, so the last is the first"
    for line in COUNTED
}

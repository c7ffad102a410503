"""Known wrong answers to roc_curve and roc_auc."""

from graders.kata import Mistake

LENGTHS = "    if y_true.shape != y_score.shape:\n"
POSITIVE = "positive = y_true == 1"
CLASSES = "    if not 0 < positive.sum() < len(positive):\n"
SORTED = "score, order = y_score.sort(descending=True)"
ORDERED = "positive = positive[order].double()"
LAST = "torch.cat([score[1:] != score[:-1], torch.ones_like(order[:1], dtype=torch.bool)])"
TRUE_POSITIVES = "torch.cat([start, positive.cumsum(0)[last]])"
FALSE_POSITIVES = "torch.cat([start, (1 - positive).cumsum(0)[last]])"
GROUPED = (
    "torch.zeros(int(last.sum()), dtype=torch.long if y_true.dtype == torch.bool else y_true.dtype)"
    ".index_add_(0, last.cumsum(0) - last.long(), y_true[order] * 1)"
)
FPR, TPR = "false_positives / false_positives[-1]", "true_positives / true_positives[-1]"
CURVE = f"return {FPR}, {TPR}, thresholds"
BACKWARDS = {CURVE: f"return ({FPR}).flip(0), ({TPR}).flip(0), thresholds.flip(0)"}
UNPACKED = "fpr, tpr, _ = roc_curve(y_true, y_score)"
AREA = "return torch.trapezoid(tpr, fpr)"
PAIRS = """\
P, N = (y_score[y_true == label].double().sort().values for label in (1, 0))
    return (torch.searchsorted(N, P) + torch.searchsorted(N, P, right=True)).double().mean() / (2 * len(N))"""
ABOVE = {CURVE: f"return torch.cat([start, ({FPR})[:-1]]), torch.cat([start, ({TPR})[:-1]]), thresholds"}
FPR_ABOVE = {CURVE: f"return torch.cat([start, ({FPR})[:-1]]), {TPR}, thresholds"}
ALL_POINTS = {LAST: "torch.ones_like(order, dtype=torch.bool)"}
TWO_AT_MOST = {"    if not (positive | (y_true == 0)).all():\n": "    if y_true.unique().numel() > 2:\n"}
FLAT = {POSITIVE: f"y_true, y_score = y_true.flatten(), y_score.flatten()\n    {POSITIVE}"}


def bends_alone(first: int) -> dict[str, str]:
    bends = " | ".join(f"{each}[{first}:].diff(n=2).ne(0)" for each in ("false_positives", "true_positives"))
    return {
        CURVE: f"""\
kept = torch.ones_like(true_positives, dtype=torch.bool)
    kept[{first + 1}:-1] = {bends}
    thresholds, false_positives, true_positives = thresholds[kept], false_positives[kept], true_positives[kept]
    {CURVE}"""
    }


def from_ranks(ranks: str) -> dict[str, str]:
    """The rank-sum statistic."""
    return {
        AREA: f"""\
ranks, P = 1 + ({ranks}).double(), int((y_true == 1).sum())
    return (ranks[y_true == 1].sum() - P * (P + 1) / 2) / (P * (len(ranks) - P))"""
    }


MISTAKES = (
    Mistake(
        "one_point_per_sample",
        "every sample has a point of its own, so that the order of equal scores matters; keep one point per distinct "
        "score",
        ALL_POINTS,
        # the order of equal scores is another one
        ALL_POINTS | {"descending=True": "descending=True, stable=True"},
        ALL_POINTS | {SORTED: SORTED.replace(".s", ".double().s"), AREA: PAIRS},
        ALL_POINTS | {AREA: PAIRS},  # ties count ½ in the area
        ALL_POINTS
        | {
            SORTED: "order = y_true.long().argsort(descending=True, stable=True)\n"
            "    order = order[y_score[order].argsort(descending=True, stable=True)]\n    score = y_score[order]",
        },
    ),
    Mistake(
        "first_of_each_tie",
        "the counts are taken at the first sample of a run of equal scores; take them at its last",
        {LAST: "torch.cat([torch.ones_like(order[:1], dtype=torch.bool), score[1:] != score[:-1]])"},
    ),
    Mistake(
        "ascending_thresholds",
        "the scores are sorted upwards, so the samples up to each threshold are counted; sort by descending score",
        {"descending=True": "descending=False"},
    ),
    Mistake(
        "strictly_above",
        "a threshold t accepts only the scores above t, perhaps in FPR alone; accept those equal to t as well",
        ABOVE,
        ABOVE | {AREA: PAIRS},
        FPR_ABOVE,
        FPR_ABOVE | {AREA: PAIRS},
    ),
    Mistake(
        "points_backwards",
        "the points go from (1, 1) down to (0, 0); begin with the threshold +inf, and integrate in that order",
        BACKWARDS,
        BACKWARDS | {AREA: f"return -{AREA[7:]}"},
        {CURVE: f"{BACKWARDS[CURVE]}.double()", AREA: f"return -{AREA[7:]}"},
    ),
    Mistake(
        "end_missing",
        "the point (0, 0) or (1, 1) is missing; begin with the threshold +inf, and end with the least score",
        {
            TRUE_POSITIVES: "positive.cumsum(0)[last]",
            FALSE_POSITIVES: "(1 - positive).cumsum(0)[last]",
            "torch.cat([score.…": "score[last]",
        },
        {CURVE: f"return ({FPR})[:-1], ({TPR})[:-1], thresholds[:-1]"},
        {LAST: LAST.replace("ones", "zeros")},
    ),
    Mistake(
        "largest_score_plus_one",
        "the first threshold is 1, or the largest score plus 1, as in old versions of scikit-learn; it should be +inf",
        {
            "torch.cat([score.…": [
                f"torch.cat([{first}, score[last]])" for first in ("score[:1] + 1", "score[:1] * 0 + 1")
            ]
        },
    ),
    Mistake(
        "points_on_a_line_dropped",
        "points on a straight line between others are dropped; keep one point per distinct score",
        bends_alone(0),
        bends_alone(1),  # as scikit-learn does it, before the origin is put in front
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
        "FPR and TPR are swapped: FPR counts label 0 and comes first, TPR counts label 1; let roc_auc read them in "
        "this order",
        {CURVE: f"return {TPR}, {FPR}, thresholds"},
        {CURVE: f"return {TPR}, {FPR}, thresholds", UNPACKED: UNPACKED.replace("fpr, tpr", "tpr, fpr")},
    ),
    Mistake(
        "other_denominators",
        "the counts are divided by the size of the other class, by all samples or by the accepted ones; divide each by "
        "the size of its class",
        {FPR: "false_positives / true_positives[-1]", TPR: "true_positives / false_positives[-1]"},
        {FPR: "false_positives / len(order)", TPR: "true_positives / len(order)"},
        {FPR: "false_positives / len(order)"},
        {FPR: "false_positives / (false_positives + true_positives).clamp_min(1)"},
    ),
    Mistake(
        "near_scores_merged",
        {LAST: "torch.cat([~torch.isclose(score[1:], score[:-1]), torch.ones_like(order[:1], dtype=torch.bool)])"},
        {SORTED: "score, order = y_score.float().sort(descending=True)"},
        {SORTED: "score, order = y_score.float().sort(descending=True)\n    score = score.to(y_score.dtype)"},
        {LAST: LAST.replace("score[1:] != score[:-1]", "score[:-1] - score[1:] > torch.finfo(score.dtype).tiny")},
    ),
    Mistake(
        "sigmoid_of_the_scores",
        {SORTED: "score, order = y_score.sigmoid().sort(descending=True)"},
        # as torchmetrics does it
        {
            SORTED: "outside = ((y_score < 0) | (y_score > 1)).any()\n"
            "    score, order = (y_score.sigmoid() if outside else y_score).sort(descending=True)"
        },
    ),
    Mistake(
        "area_of_the_rounded_curve",
        "the area is taken from counts or rates that are rounded to the dtype of the scores; take both in float64",
        {
            CURVE: f"return ({FPR}).to(score.dtype), ({TPR}).to(score.dtype), thresholds",
            AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
        },
        {
            ORDERED: "positive = positive[order].to(y_score.dtype)",
            AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
        },
    ),
    Mistake(
        "float32_on_the_way",
        {
            ORDERED: "positive = positive[order].float()",
            CURVE: f"return ({FPR}).double(), ({TPR}).double(), thresholds",
        },
        {ORDERED: "positive = positive[order].long()"},
        {ORDERED: "positive = positive[order].long()", AREA: f"{AREA}.double()"},
        {AREA: "return torch.trapezoid(tpr.float(), fpr.float()).double()"},
        {
            ORDERED: "positive = positive[order].long()",
            AREA: "return torch.trapezoid(tpr.double(), fpr.double())",
        },
    ),
    Mistake(
        "steps",
        "a positive and a negative with equal scores count 0 or 1 in the area, as in a sum of steps; count them ½, as "
        "trapezoids do",
        {AREA: ["return (fpr.diff() * tpr[:-1]).sum()", "return (fpr.diff() * tpr[1:]).sum()"]},
    ),
    Mistake(
        "area_doubled",
        "the area is twice what it should be; the area between two points is their distance in FPR times the mean of "
        "their TPR",
        {AREA: f"return 2 * {AREA[7:]}"},
    ),
    Mistake(
        "area_beside_the_curve",
        "FPR is integrated over TPR, which gives 1 minus the AUC; integrate TPR over FPR",
        {AREA: "return torch.trapezoid(fpr, tpr)"},
    ),
    Mistake(
        "one_false_positive_too_few",
        "the counts of false positives are one too small; at place i of the sorted samples, counted from 0, i + 1 are "
        "accepted",
        {FALSE_POSITIVES: "torch.cat([start, (1 - positive).cumsum(0)[last] - 1])"},
    ),
    Mistake(
        "never_below_a_half",
        "an area below a half is turned into 1 minus it; a score that ranks backwards should get less than a half",
        {AREA: "area = torch.trapezoid(tpr, fpr)\n    return torch.maximum(area, 1 - area)"},
    ),
    Mistake(
        "ranks_without_ties",
        "the area comes from ranks that tell equal scores apart; equal scores share the mean of their ranks",
        from_ranks("y_score.argsort().argsort()"),
        from_ranks("y_score.argsort(stable=True).argsort()"),  # the order of equal scores is another one
    ),
    Mistake(
        "highest_rank_for_ties",
        "equal scores share the highest or the lowest of their ranks; they share the mean of their ranks",
        from_ranks("torch.searchsorted(y_score.sort().values, y_score, right=True) - 1"),
        from_ranks("torch.searchsorted(y_score.sort().values, y_score)"),
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
        "calculated_with_labels",
        "labels are subtracted from 1, which bool does not allow, or inverted by ~, which flips all bits of an "
        "integer; compare them with 0 and 1",
        {POSITIVE: "positive = (1 - y_true) == 0"},
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
        {TRUE_POSITIVES: f"torch.cat([start, {GROUPED}.double().cumsum(0)])"},  # only those of equal scores
    ),
    Mistake(
        "columns_accepted",
        "labels and scores of different shapes, such as (N, 1) and (N,), go through if they have equally many "
        "entries; compare the shapes",
        FLAT | {LENGTHS: "    if y_true.numel() != y_score.numel():\n"},
        FLAT | {LENGTHS: "    if y_true.ndim != 1 or y_true.numel() != y_score.numel():\n"},
        FLAT | {LENGTHS: "    if y_score.ndim != 1 or y_true.numel() != y_score.numel():\n"},
    ),
    Mistake(
        "labels_half_checked",
        "labels above 1 are refused but negative ones are not, or any two labels go through; accept only 0 and 1",
        {"    if not (positive | (y_true == 0)).all():\n": "    if (y_true > 1).any():\n"},
        TWO_AT_MOST,
        TWO_AT_MOST | {POSITIVE: "positive = y_true == y_true.unique()[-1:]"},
    ),
    Mistake(
        "classes_half_checked",
        "data without positives, without negatives or without samples raise no ValueError; raise it unless both "
        "classes occur",
        {CLASSES: "    if not 0 < positive.sum():\n"},
        {CLASSES: ["    if positive.sum() == len(positive):\n", "    if (y_true == y_true[0]).all():\n"]},
    ),
    Mistake(
        "another_library",
        "another library does the work; write it by hand",
        {
            UNPACKED: "library = __import__('sklearn.metrics').metrics",
            AREA: "return torch.tensor(library.roc_auc_score(y_true.tolist(), y_score.tolist()), dtype=torch.float64)",
        },
    ),
    Mistake(
        "loop_over_samples",
        "a Python loop counts one sample after the other; cumsum counts them all",
        {
            ORDERED: """\
seen = [0]
    for label in positive[order].tolist():
        seen.append(seen[-1] + label)
    positive = torch.tensor(seen, dtype=torch.float64).diff()"""
        },
        slow=True,
    ),
    Mistake(
        "loop_over_thresholds",
        "a Python loop goes through all samples for every threshold; sort once, and one cumsum gives all counts",
        {
            TRUE_POSITIVES: "torch.tensor([0, *[positive[score >= t].sum() for t in score[last]]]).double()",
            FALSE_POSITIVES: "torch.tensor([0, *[(1 - positive)[score >= t].sum() for t in score[last]]]).double()",
        },
        slow=True,
    ),
    Mistake(
        "every_threshold_at_once",
        {
            TRUE_POSITIVES: "torch.cat([start, (positive * (score >= score[last][:, None])).sum(1)])",
            FALSE_POSITIVES: "torch.cat([start, ((1 - positive) * (score >= score[last][:, None])).sum(1)])",
        },
        slow=True,
    ),
)

COUNTED = (f"true_positives = {TRUE_POSITIVES}", f"false_positives = {FALSE_POSITIVES}")
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{line} -> {line.replace('cumsum(0)', 'cumsum(-1)')}": "labels have one axis, so the last is the first"
    for line in COUNTED
}

"""Known wrong answers to precision_recall_curve and average_precision."""

from graders.kata import Mistake

LABELS = "not (positive | (y_true == 0)).all()"
SORTED = "score, order = y_score.sort(descending=True)"
LAST = "torch.cat([score[1:] != score[:-1], torch.ones_like(positive[:1])])"
COUNTED = "positive[order].double().cumsum(0)[last]"
P, R = "torch.cat([precision.flip(0), precision.new_ones(1)])", "torch.cat([recall.flip(0), recall.new_zeros(1)])"
T = "score[last].flip(0)"
CURVE, UNPACKED = "return precision, recall, score", "precision, recall, _ ="
AP = "((recall[:-1] - recall[1:]) * precision[:-1]).sum()"
NO_END = {P: "precision.flip(0)", R: "recall.flip(0)"}
DESCENDING = {T: "score[last]", CURVE: "return precision.flip(0), recall.flip(0), score"}
AS_NUMBERS = COUNTED.replace("positive", "y_true")
BY_SAMPLE = {LAST: "torch.ones_like(positive)"}
UPWARDS = {"descending=True": "descending=False"}
NOT_FLIPPED = {P: P.replace(".flip(0)", ""), R: R.replace(".flip(0)", ""), T: "score[last]"}
STRICT = {R: "torch.cat([recall[:-1].flip(0), recall[:1] * ~hits.any(), recall.new_zeros(1)])"}
ABOVE = [
    STRICT | {P: f"torch.cat([precision[:-1].flip(0), precision.new_tensor([{x}, 1])])"} for x in (0, 1, "torch.nan")
]
CURVED = """    accepted = torch.cat([len(y_score) - torch.searchsorted(y_score.sort().values, _), recall.new_zeros(1)])
    rise, more = (each[:-1] - each[1:] for each in (recall, accepted))
    more, before, then = (each[rise > 0] for each in (more / rise, accepted[1:], recall[1:]))
    rise = rise[rise > 0]
    bend = (then - before / more) / more * torch.log1p(rise * more / before)
    return (rise / more + bend.nan_to_num()).sum() * y_true.sum()
"""
PRECISION = "    precision = hits / accepted"
BENDS = """\
    kept = (hits.diff(prepend=hits[:1] - 1) != 0) | (hits.diff(append=hits[-1:] + 1) != 0)
    hits, accepted, last = hits[kept], accepted[kept], last.nonzero()[kept, 0]
"""
ONE_CLASS = "    if hits[-1] {}:\n        raise ValueError('one class only')\n"

MISTAKES = (
    Mistake(
        "trapezoids",
        "AP is the area under straight lines between the points; add up the rises of recall, each times the precision "
        "at its own threshold",
        {AP: "-torch.trapezoid(precision, recall)"},
    ),
    Mistake(
        "other_weights",
        "the precisions have equal weights, or the weights of other thresholds; weight each by the rise of recall at "
        "its own threshold",
        {AP: ["precision[:-1].mean()", AP.replace("precision[:-1]", "precision[1:]")]},
        {AP: "precision[:-1][recall[:-1] > recall[1:]].mean()"},
        {AP: AP.replace("precision[:-1]", "precision[1:]") + " * y_true.any()"},  # 0 without positives, as it should be
    ),
    Mistake(
        "interpolated_precision",
        "AP takes the best precision at the same or a higher recall, as in object detection; multiply each rise of "
        "recall by the precision at that point, and add up",
        {AP: AP.replace("precision", "precision.cummax(0).values")},
        {AP: "torch.stack([precision[:-1][recall[:-1] >= k / 10].max() for k in range(11)]).mean()"},
    ),
    Mistake(
        "curved_between_the_points",
        "AP is the area under the curves that Davis and Goadrich draw between the points; add up the rises of recall, "
        "each times the precision at its own threshold",
        {f"    return {AP}\n": CURVED},
    ),
    Mistake(
        "ties_told_apart",
        "equal scores are accepted one by one, or only the first of them is accepted; accept all of them at once, and "
        "count at the last one",
        BY_SAMPLE,
        BY_SAMPLE | {"descending=True": "descending=True, stable=True"},
        BY_SAMPLE | {SORTED: "order = y_score.argsort(stable=True).flip(0)\n    score = y_score[order]"},
        {LAST: "torch.cat([torch.ones_like(positive[:1]), score[1:] != score[:-1]])"},
        {  # in the average alone, as a ranking without ties has it
            AP: "((hit := y_true[y_score.argsort(descending=True, stable=True)].double()) * hit.cumsum(0)"
            " / torch.arange(1, len(hit) + 1)).sum() / hit.sum().clamp_min(1)",
        },
    ),
    Mistake(
        "final_point",
        "the final point is missing, is wrong or has a threshold; put precision 1 and recall 0 at the end, "
        "without a threshold",
        NO_END | {AP: "(-recall.diff(append=recall.new_zeros(1)) * precision).sum()"},
        NO_END,
        {P: [P.replace("ones", "zeros"), P.replace("precision.new_ones(1)", "precision[:1]")]},
        {T: f"torch.cat([{T}, score.new_tensor([torch.inf])])"},
    ),
    Mistake(
        "descending_thresholds",
        "the thresholds descend, alone or with precision and recall; return all three by ascending threshold, and "
        "compute AP from them",
        DESCENDING | {AP: "(recall.diff() * precision[1:]).sum()"},
        DESCENDING,
        {T: "score[last]"},
        NOT_FLIPPED | {AP: "(recall.diff(prepend=recall.new_zeros(1))[:-1] * precision[:-1]).sum()"},
    ),
    Mistake(
        "scores_up_to_the_threshold",
        "a threshold t accepts the scores up to t; accept those that are at least t",
        UPWARDS | NOT_FLIPPED,
        UPWARDS,
    ),
    Mistake(
        "strictly_above",
        "a threshold t accepts only the scores above t; accept those equal to t as well",
        *ABOVE,
        ABOVE[0] | {AP: "(-recall.diff(prepend=recall.new_ones(1))[:-1] * precision[:-1]).sum()"},
    ),
    Mistake(
        "thresholds_left_out",
        "some thresholds are left out, such as those that add no positive or come after full recall; keep one for "
        "every distinct score",
        {each: f"{each}[(hits == hits[-1]).sum() - 1 :]" for each in (P, R, T)},  # as scikit-learn once did
        {PRECISION: f"{BENDS}{PRECISION}"},  # as its drop_intermediate=True
    ),
    Mistake(
        "recall_without_positives",
        "without positives the recall is NaN or 0; it should be 1 at every threshold",
        {"hits / hits[-1] if …": ["hits / hits[-1]", "hits / hits[-1].clamp_min(1)"]},
        {"hits / hits[-1] if …": "hits / hits[-1]", AP: f"{AP}.nan_to_num()"},
    ),
    Mistake(
        "one_class_refused",
        "labels of a single class are refused, as for the ROC curve; here both functions accept them",
        {PRECISION: [ONE_CLASS.format("== 0") + PRECISION, ONE_CLASS.format("in (0, len(score))") + PRECISION]},
    ),
    Mistake(
        "precision_and_recall_swapped",
        "precision and recall are swapped; precision, which divides by the accepted samples, comes first, and AP "
        "should read them in this order",
        {CURVE: "return recall, precision, score", UNPACKED: "recall, precision, _ ="},
        {CURVE: "return recall, precision, score"},
    ),
    Mistake(
        "near_scores_merged",
        {LAST: LAST.replace("score[1:] != score[:-1]", "~torch.isclose(score[1:], score[:-1])")},
        {SORTED: f"{SORTED.replace('.s', '.float().s')}\n    score = score.to(y_score.dtype)"},
        *(
            {LAST: LAST.replace("score[1:] != score[:-1]", f"score[:-1] - score[1:] > {gap}")}
            for gap in ("torch.finfo(score.dtype).tiny", "torch.finfo(score.dtype).eps", "1e-8", "1e-6", "1e-5")
        ),
    ),
    Mistake(
        "sigmoid_of_the_scores",
        {"y_score.sort": "y_score.sigmoid().sort"},
        {"y_score.sort": "(y_score if y_score.clamp(0, 1).equal(y_score) else y_score.sigmoid()).sort"},
    ),
    Mistake(
        "counts_in_the_dtype_of_the_scores",
        "the positives are counted in the dtype of the scores, and float16 rounds counts above 2048; count in float64",
        {COUNTED: COUNTED.replace("double()", "to(score.dtype)")},
    ),
    Mistake(
        "float32_on_the_way",
        {COUNTED: COUNTED.replace("double", "long"), CURVE: "return precision.double(), recall.double(), score"},
        {COUNTED: COUNTED.replace("double", "long")},
        {AP: f"{AP}.float().double()"},
        {CURVE: "return precision.to(score.dtype), recall.to(score.dtype), score", AP: f"{AP}.double()"},
    ),
    Mistake(
        "one_class_in_float32",
        "if all labels are of one class, AP is a constant in float32; make it float64, or the scores' dtype",
        {AP: [f"{AP} if y_true.any() else torch.tensor(0.0)", f"torch.tensor(1.0) if y_true.all() else {AP}"]},
    ),
    Mistake(
        "labels_half_checked",
        "labels other than 0 and 1 get through: negative ones, any two values, or what becomes 0 or 1 in a narrower "
        "dtype; refuse all of these",
        {LABELS: ["(y_true > 1).any()", "y_true.unique().numel() > 2"]},
        {LABELS: "(y_true > 1).any()", COUNTED: AS_NUMBERS},
        {LABELS: "y_true.unique().numel() > 2", COUNTED: AS_NUMBERS},
        {LABELS: "(y_true.to(torch.int8) > 1).any() or (y_true.to(torch.int8) < 0).any()", COUNTED: AS_NUMBERS},
    ),
    Mistake(
        "loop",
        "a Python loop goes over the samples or the thresholds; sort once, and one cumsum gives all counts",
        {COUNTED: "torch.tensor([n := 0] + [n := n + one for one in positive[order].tolist()])[1:][last].double()"},
        {COUNTED: "torch.stack([positive[y_score >= one].sum() for one in score[last]]).double()"},
        slow=True,
    ),
    Mistake(
        "every_threshold_at_once",
        {COUNTED: "(positive[order].double() * (score >= score[last][:, None])).sum(1)"},
        slow=True,
    ),
)

LINES = (f"hits = {COUNTED}", f"precision = {P}", f"recall = {R}", f"return (precision, recall, {T})")
EQUIVALENT = {f"{one} -> {one.replace('(0)', '(-1)')}": "of one axis, the last is the first" for one in LINES}

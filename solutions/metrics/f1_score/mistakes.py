"""Known wrong answers to precision_recall_f1."""

from graders.kata import Mistake

AVERAGE = '    if average not in ("binary", "micro", "macro", "weighted", None):\n'
DIMENSIONS = "    if y_true.dim() != 1 or y_pred.dim() != 1:\n"
LENGTHS = "    if len(y_true) != len(y_pred):\n"
EMPTY = "    if len(y_true) == 0:\n"
TOP = "top = int(torch.cat([y_true, y_pred]).max())"
NOT_BINARY = 'if average == "binary" and top > 1:'
CLASSES = 'C = 2 if average == "binary" else num_classes or top + 1'
HIT = "torch.bincount(y_true[y_true == y_pred], minlength=C).double()"
PREDICTED = "torch.bincount(y_pred, minlength=C)"
ACTUAL = "torch.bincount(y_true, minlength=C)"
WEIGHT = "weight = actual.double() / len(y_true)"
BINARY = "hit, predicted, actual = hit[1], predicted[1], actual[1]"
MICRO = "hit, predicted, actual = hit.sum(), predicted.sum(), actual.sum()"
PRECISION = "precision = hit / predicted.clamp_min(1)"
RECALL = "recall = hit / actual.clamp_min(1)"
F1 = "f1 = 2 * hit / (predicted + actual).clamp_min(1)"
MACRO = "precision, recall, f1 = precision.mean(), recall.mean(), f1.mean()"
WEIGHTED = "precision, recall, f1 = weight @ precision, weight @ recall, weight @ f1"
RESULT = "return precision.float(), recall.float(), f1.float()"
MEAN_OF_THOSE = "precision, recall, f1 = precision[there].mean(), recall[there].mean(), f1[there].mean()"
HARMONIC = "2 * precision * recall / (precision + recall)"

FLATTENED = (
    '        raise ValueError("labels should be 1-D")\n'
    "    y_true, y_pred = y_true.flatten(), y_pred.flatten()\n"
    "    if False:\n"
)
SCALARS = "return precision.item(), recall.item(), f1.item()"


def of_the_means(*averages: str) -> dict[str, str]:
    return {RESULT: f"if average in {averages!r}:\n        f1 = ({HARMONIC}).nan_to_num()\n    {RESULT}"}


def eps_below(eps: str) -> dict[str, str]:
    """In all three rates, F1 being that of precision and recall."""
    return {
        PRECISION: f"precision = hit / (predicted + {eps})",
        RECALL: f"recall = hit / (actual + {eps})",
        F1: f"f1 = 2 * precision * recall / (precision + recall + {eps})",
    }


def eps_below_counts(eps: str) -> dict[str, str]:
    return eps_below(eps) | {F1: f"f1 = 2 * hit / (predicted + actual + {eps})"}


def eps_below_f1(eps: str) -> dict[str, str]:
    return {F1: f"f1 = 2 * precision * recall / (precision + recall + {eps})"}


MISTAKES = (
    Mistake(
        "precision_and_recall_swapped",
        "precision and recall are swapped; precision divides by what was predicted, recall by what is true",
        {RESULT: "return recall.float(), precision.float(), f1.float()"},
    ),
    Mistake(
        "f1_of_the_means",
        "F1 under macro or weighted is taken from the means of precision and recall; average the F1 of the classes",
        of_the_means("macro", "weighted"),
        also=(of_the_means("macro"), of_the_means("weighted")),
    ),
    Mistake(
        "arithmetic_mean",
        "F1 is the arithmetic mean of precision and recall; it should be the harmonic one",
        {F1: "f1 = (precision + recall) / 2"},
    ),
    Mistake(
        "jaccard",
        "F1 is TP / (TP + FP + FN), the Jaccard index; TP counts twice, in the numerator and in the denominator",
        {F1: "f1 = hit / (predicted + actual - hit).clamp_min(1)"},
    ),
    Mistake(
        "nan_for_zero_by_zero",
        "0/0 gives NaN; a rate whose denominator is 0 should be 0",
        {
            PRECISION: PRECISION.replace(".clamp_min(1)", ""),
            RECALL: RECALL.replace(".clamp_min(1)", ""),
            F1: F1.replace(".clamp_min(1)", ""),
        },
    ),
    Mistake(
        "nan_where_both_are_zero",
        "F1 is NaN where precision and recall are both 0; it should be 0 there",
        {F1: f"f1 = {HARMONIC}"},
    ),
    Mistake(
        "nan_replaced_after_the_mean",
        "NaN is replaced by 0 after the mean, so that one class at 0/0 makes the whole mean 0; replace it before",
        {
            PRECISION: PRECISION.replace(".clamp_min(1)", ""),
            RECALL: RECALL.replace(".clamp_min(1)", ""),
            F1: F1.replace(".clamp_min(1)", ""),
            RESULT: RESULT.replace(".float()", ".float().nan_to_num()"),
        },
    ),
    Mistake(
        "one_for_zero_by_zero",
        "0/0 gives 1; it should give 0",
        {
            PRECISION: "precision = (hit / predicted).nan_to_num(1.0)",
            RECALL: "recall = (hit / actual).nan_to_num(1.0)",
            F1: "f1 = (2 * hit / (predicted + actual)).nan_to_num(1.0)",
        },
    ),
    Mistake(
        "absent_classes_left_out",
        "macro leaves out classes that are neither true nor predicted; all C classes count, with 0 where absent",
        {MACRO: f"there = predicted + actual > 0\n        {MEAN_OF_THOSE}"},
    ),
    Mistake(
        "classes_without_truth_left_out",
        "macro leaves out classes that are only predicted; they count too, with 0",
        {MACRO: f"there = actual > 0\n        {MEAN_OF_THOSE}"},
    ),
    Mistake(
        "undefined_rates_left_out",
        "each macro mean leaves out the classes where its rate is 0/0; they count 0",
        {
            MACRO: "precision = precision[predicted > 0].mean()\n        recall = recall[actual > 0].mean()\n"
            "        f1 = f1[predicted + actual > 0].mean()"
        },
    ),
    Mistake(
        "predicted_only_class_dropped",
        "the number of classes is taken from y_true alone, and a class that is only predicted is dropped; look at both",
        {
            TOP: f"{TOP}\n    most = int(y_true.max()) + 1",
            CLASSES: 'C = 2 if average == "binary" else num_classes or most',
            PREDICTED: "torch.bincount(y_pred, minlength=C)[:C]",
        },
    ),
    Mistake(
        "distinct_labels_counted",
        "the number of classes is that of the labels that occur; it should be the largest label plus 1",
        {
            CLASSES: f"{CLASSES}\n    occur = torch.cat([y_true, y_pred]).unique()",
            RESULT: "if average is None and num_classes is None:\n"
            "        precision, recall, f1 = precision[occur], recall[occur], f1[occur]\n"
            "    elif average == 'macro' and num_classes is None:\n"
            "        precision, recall, f1 = (each * C / len(occur) for each in (precision, recall, f1))\n    "
            + RESULT,
        },
    ),
    Mistake(
        "num_classes_ignored",
        "num_classes is ignored; classes beyond the largest label count as well",
        {CLASSES: 'C = 2 if average == "binary" else top + 1'},
    ),
    Mistake(
        "integer_division",
        "the counts are divided as integers, which gives only 0 and 1; divide as floats",
        {
            PRECISION: "precision = (hit // predicted.clamp_min(1)).float()",
            RECALL: "recall = (hit // actual.clamp_min(1)).float()",
            F1: "f1 = (2 * hit // (predicted + actual).clamp_min(1)).float()",
        },
    ),
    Mistake(
        "micro_is_macro",
        "micro averages the rates of the classes; add up their counts before dividing",
        {MICRO: "pass", 'if average == "macro":': 'if average in ("macro", "micro"):'},
    ),
    Mistake(
        "micro_without_class_zero",
        "micro leaves out class 0 as if it were a background; all classes count",
        {MICRO: "hit, predicted, actual = hit[1:].sum(), predicted[1:].sum(), actual[1:].sum()"},
    ),
    Mistake(
        "weighted_by_predictions",
        "the weights are how often each class is predicted; they should be how often it is true",
        {WEIGHT: "weight = predicted.double() / len(y_true)"},
    ),
    Mistake(
        "weighted_like_macro",
        "weighted gives every class the same weight; weigh each by how often it is true",
        {WEIGHT: "weight = torch.full((C,), 1 / C).double()"},
    ),
    Mistake(
        "weighted_divided_by_classes",
        "weighted divides by the number of classes; it should divide by the number of samples",
        {WEIGHT: "weight = actual.double() / C"},
    ),
    Mistake(
        "class_zero_is_positive",
        "binary describes class 0; the positive class is 1",
        {BINARY: BINARY.replace("[1]", "[0]")},
    ),
    Mistake(
        "binary_is_macro",
        "binary averages over both classes; it describes class 1 alone",
        {BINARY: "pass", 'if average == "macro":': 'if average in ("macro", "binary"):'},
    ),
    Mistake(
        "binary_needs_a_one",
        "binary takes the largest label for the positive class, which is 0 where no label is 1; take class 1",
        {BINARY: BINARY.replace("[1]", "[top]")},
    ),
    Mistake(
        "binary_is_the_last_class",
        "binary describes the last of num_classes classes; it describes class 1 whatever num_classes is",
        {CLASSES: 'C = num_classes or (2 if average == "binary" else top + 1)', BINARY: BINARY.replace("[1]", "[-1]")},
    ),
    Mistake(
        "specificity_for_recall",
        "recall is the share of the negatives that were recognised, which is the specificity; take the positives",
        {RECALL: "recall = (len(y_true) - predicted - actual + hit) / (len(y_true) - actual).clamp_min(1)"},
    ),
    Mistake(
        "none_is_macro",
        "average=None returns means; it should return one value per class",
        {'if average == "macro":': 'if average in ("macro", None):'},
    ),
    Mistake(
        "one_element_vectors",
        "binary returns vectors of one element; it should return scalars",
        {BINARY: BINARY.replace("[1]", "[1:]")},
    ),
    Mistake(
        "float64_returned",
        "the results are float64; they should be float32",
        {RESULT: "return precision, recall, f1"},
    ),
    Mistake(
        "python_floats",
        "the results are numbers of Python; they should be tensors",
        {RESULT: f"if average is not None:\n        {SCALARS}\n    {RESULT}"},
    ),
    Mistake(
        "eps_in_the_denominators",
        "a constant such as 1e-6 is added to the denominators against 0/0, which shifts small rates; keep 0/0 separate",
        eps_below("1e-6"),
        also=(
            *(eps_below(eps) for eps in ("1e-5", "1e-7")),
            *(eps_below_f1(eps) for eps in ("1e-5", "1e-6", "1e-7")),
            eps_below_counts("1e-5"),
        ),
    ),
    Mistake(
        "counts_in_half_precision",
        "the counts are float16, which holds whole numbers up to 2048 only; count in integers of 64 bits",
        {
            PRECISION: f"hit, predicted, actual = hit.half(), predicted.half(), actual.half()\n    {PRECISION}",
            WEIGHT: WEIGHT.replace("actual.double()", "actual.half()"),
        },
    ),
    Mistake(
        "counts_in_the_labels_dtype",
        "the counts are kept in the dtype of the labels, and 8 bits end at 127 or 255; count in 64 bits",
        {
            HIT: HIT.replace(".double()", ".to(y_true.dtype)"),
            PREDICTED: f"{PREDICTED}.to(y_true.dtype)",
            ACTUAL: f"{ACTUAL}.to(y_true.dtype)",
            RECALL: f"hit = hit.double()\n    {RECALL}",
        },
    ),
    Mistake(
        "classes_in_the_labels_dtype",
        "the largest label plus 1 is taken in the labels' dtype, where 127 + 1 or 255 + 1 wraps; make it an int first",
        {TOP: "top = int(torch.cat([y_true, y_pred]).max() + 1) - 1"},
    ),
    Mistake(
        "pairs_in_the_labels_dtype",
        "true * C + predicted is computed in the dtype of the labels, where it wraps; make the labels 64-bit first",
        {HIT: "torch.bincount((y_true * C + y_pred).long() % C**2, minlength=C * C)[:: C + 1].double()"},
    ),
    Mistake(
        "repeats_lost",
        "hits are added by an indexed +=, which counts a class once however often it occurs; use bincount",
        {
            HIT: "torch.zeros(C, dtype=torch.long)\n    hit[y_true.long()] += (y_true == y_pred).long()\n"
            "    hit = hit.double()"
        },
    ),
    Mistake(
        "average_unchecked",
        "an unknown average is taken for None; raise ValueError",
        {AVERAGE: "    if False:\n"},
    ),
    Mistake(
        "average_in_any_case",
        "average is accepted in upper case, too; only the words of the statement are allowed, as they are written",
        {AVERAGE: "    average = average.lower() if average else average\n" + AVERAGE},
    ),
    Mistake(
        "dimensions_unchecked",
        "labels that are not 1-D do not raise ValueError; check the number of axes of both",
        {DIMENSIONS: "    if False:\n"},
    ),
    Mistake(
        "flattened",
        "labels of any shape are flattened; raise ValueError where they are not 1-D",
        {DIMENSIONS: "    y_true, y_pred = y_true.flatten(), y_pred.flatten()\n" + DIMENSIONS},
    ),
    Mistake(
        "one_dimension_is_enough",
        "labels are refused only where y_true and y_pred are both not 1-D; refuse them where either is",
        {DIMENSIONS: DIMENSIONS.replace(" or ", " and ")},
        also=({DIMENSIONS: DIMENSIONS.replace(" or ", " and ") + FLATTENED},),
    ),
    Mistake(
        "only_true_dimensions_checked",
        "the number of axes of y_pred is not checked; it should be 1 like that of y_true",
        {DIMENSIONS: "    if y_true.dim() != 1:\n"},
        also=({DIMENSIONS: "    if y_true.dim() != 1:\n" + FLATTENED},),
    ),
    Mistake(
        "only_predicted_dimensions_checked",
        "the number of axes of y_true is not checked; it should be 1 like that of y_pred",
        {DIMENSIONS: "    if y_pred.dim() != 1:\n"},
        also=({DIMENSIONS: "    if y_pred.dim() != 1:\n" + FLATTENED},),
    ),
    Mistake(
        "lengths_unchecked",
        "lengths that differ do not raise ValueError, and a single label is broadcast; compare the lengths",
        {LENGTHS: "    if False:\n"},
    ),
    Mistake(
        "empty_unchecked",
        "no labels at all do not raise ValueError; check the length",
        {EMPTY: "    if False:\n"},
    ),
    Mistake(
        "empty_gives_zero",
        "no labels at all give 0; raise ValueError",
        {EMPTY: EMPTY + "        return torch.zeros(()), torch.zeros(()), torch.zeros(())\n    if False:\n"},
    ),
    Mistake(
        "labels_above_one_allowed",
        'average="binary" ignores labels above 1; raise ValueError',
        {NOT_BINARY: "if False:"},
    ),
    Mistake(
        "only_true_labels_checked",
        'average="binary" looks for labels above 1 in y_true only; look in y_pred too',
        {NOT_BINARY: 'if average == "binary" and y_true.max() > 1:'},
    ),
    Mistake(
        "only_predicted_labels_checked",
        'average="binary" looks for labels above 1 in y_pred only; look in y_true too',
        {NOT_BINARY: 'if average == "binary" and y_pred.max() > 1:'},
    ),
    Mistake(
        "positive_if_not_zero",
        'average="binary" counts every label but 0 as positive; labels above 1 should raise ValueError',
        {
            NOT_BINARY: "if average == 'binary':\n        y_true, y_pred = y_true.clamp(max=1), y_pred.clamp(max=1)\n"
            "    if False:"
        },
    ),
    Mistake(
        "num_classes_decides",
        'average="binary" raises by num_classes, not by the labels; two labels among more classes are fine',
        {NOT_BINARY: 'if average == "binary" and max(num_classes or 2, top + 1) > 2:'},
    ),
    Mistake(
        "wrong_default_average",
        'the default of average is "macro"; it should be "binary"',
        {'average: str | None = "binary"': 'average: str | None = "macro"'},
    ),
    Mistake(
        "input_overwritten",
        "wrong predictions are overwritten in the caller's tensor; leave y_pred as it is",
        {
            HIT: f"{HIT}\n    guess = y_pred.clone()\n    y_pred[y_true != y_pred] = 0",
            PREDICTED: "torch.bincount(guess, minlength=C)",
        },
    ),
    Mistake(
        "calls_a_library",
        "scikit-learn does the work; write it by hand",
        {
            "import torch\n": "import torch\nfrom sklearn.metrics import precision_recall_fscore_support as library\n",
            'if average == "macro":': "labels = [1] if average == 'binary' else list(range(C))\n"
            "    how = None if average == 'binary' else average\n"
            "    made = library(y_true.tolist(), y_pred.tolist(), labels=labels, average=how, zero_division=0)[:3]\n"
            "    precision, recall, f1 = (torch.as_tensor(each.tolist()).float() for each in made)\n"
            "    if average == 'binary':\n        precision, recall, f1 = precision[0], recall[0], f1[0]\n"
            '    if average == "samples":',
            'elif average == "weighted":': "elif False:",
        },
    ),
    Mistake(
        "loop_over_samples",
        "a Python loop counts one sample after the other; bincount counts them all at once",
        {
            HIT: "torch.zeros(C, C, dtype=torch.long).tolist()\n"
            "    for true, guess in zip(y_true.tolist(), y_pred.tolist()):\n        hit[true][guess] += 1\n"
            "    hit = torch.tensor(hit)",
            PREDICTED: "hit.sum(dim=0)",
            ACTUAL: "hit.sum(dim=1)\n    hit = hit.diagonal().double()",
        },
        slow=True,
    ),
    Mistake(
        "loop_over_classes",
        "a Python loop goes through all samples once for each class; bincount counts all classes in one go",
        {
            HIT: "torch.stack([((y_true == c) & (y_pred == c)).sum() for c in range(C)]).double()",
            PREDICTED: "torch.stack([(y_pred == c).sum() for c in range(C)])",
            ACTUAL: "torch.stack([(y_true == c).sum() for c in range(C)])",
        },
        slow=True,
    ),
    Mistake(
        "every_cell_for_every_sample",
        "each sample has a confusion matrix of its own, of all C × C pairs of labels; let bincount count the pairs",
        {
            HIT: "((y_true[:, None, None] == torch.arange(C)[:, None]) & (y_pred[:, None, None] == torch.arange(C)))"
            ".sum(dim=0)",
            PREDICTED: "hit.sum(dim=0)",
            ACTUAL: "hit.sum(dim=1)\n    hit = hit.diagonal().double()",
        },
        slow=True,
    ),
    Mistake(
        "pairs_in_a_counter",
        "Python's Counter counts the pairs of labels as tuples; make one number of each pair, and let bincount count",
        {
            "import torch\n": "from collections import Counter\n\nimport torch\n",
            HIT: "torch.zeros(C, C, dtype=torch.long)\n"
            "    counts = Counter(map(tuple, torch.stack([y_true, y_pred], dim=1).tolist()))\n"
            "    hit[torch.tensor(list(counts)).unbind(dim=1)] = torch.tensor(list(counts.values()))",
            PREDICTED: "hit.sum(dim=0)",
            ACTUAL: "hit.sum(dim=1)\n    hit = hit.diagonal().double()",
        },
        slow=True,
    ),
)

UNPARSED = CLASSES.replace('"', "'")
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{UNPARSED} -> {UNPARSED.replace('2', '3')}": (
        "only class 1 is looked at, so that a third class, which is empty, changes nothing"
    ),
    "f1 = 2 * hit / (predicted + actual).clamp_min(1) -> f1 = 2 * hit / (predicted + actual).clamp_min(2)": (
        "a class that is predicted or true just once is never hit, and 0/2 is 0/1"
    ),
}

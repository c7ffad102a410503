"""Known wrong answers to precision_recall_f1."""

from graders.kata import Mistake

DIMENSIONS = "    if y_true.dim() != 1 or y_pred.dim() != 1:\n"
NOT_BINARY = 'if average == "binary" and top > 1:'
CLASSES = 'C = 2 if average == "binary" else num_classes or top + 1'
HIT = "torch.bincount(y_true[y_true == y_pred], minlength=C).double()"
PREDICTED = "torch.bincount(y_pred, minlength=C)"
DIFFERENT = CLASSES.replace("top + 1", "len(torch.cat([y_true, y_pred]).unique())")
PAIRS = "torch.bincount(y_true.long() * C + y_pred, minlength=C * C).reshape(C, C)"
ONE_HOT = "torch.nn.functional.one_hot(y_pred.long(), C).sum(0)"
ACTUAL = "torch.bincount(y_true, minlength=C)"
WEIGHT = "weight = actual.double() / len(y_true)"
BINARY = "hit, predicted, actual = hit[1], predicted[1], actual[1]"
PRECISION = "precision = hit / predicted.clamp_min(1)"
F1 = "f1 = 2 * hit / (predicted + actual).clamp_min(1)"
HARMONIC = "2 * precision * recall / (precision + recall)"
SUMS = "hit, predicted, actual = hit.sum(), predicted.sum(), actual.sum()"
MACRO = "precision, recall, f1 = precision.mean(), recall.mean(), f1.mean()"
WEIGHTED = "precision, recall, f1 = weight @ precision, weight @ recall, weight @ f1"
RESULT = "return precision.float(), recall.float(), f1.float()"


def rates(division: str) -> dict[str, str]:
    return {
        PRECISION: f"precision = {division.format('hit', 'predicted')}",
        "recall = hit / actual.clamp_min(1)": f"recall = {division.format('hit', 'actual')}",
        F1: f"f1 = {division.format('2 * hit', '(predicted + actual)')}",
    }


def of_the_means(*averages: str) -> dict[str, str]:
    return {RESULT: f"if average in {averages!r}:\n        f1 = ({HARMONIC}).nan_to_num()\n    {RESULT}"}


def macro_over(there: str) -> dict[str, str]:
    rates = "precision[there].mean(), recall[there].mean(), f1[there].mean()"
    return {MACRO: f"there = {there}\n        precision, recall, f1 = {rates}"}


def from_a_matrix(matrix: str) -> dict[str, str]:
    """(C, C), whose rows are the true classes."""
    return {HIT: matrix, PREDICTED: "hit.sum(dim=0)", ACTUAL: "hit.sum(dim=1)\n    hit = hit.diagonal().double()"}


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
        of_the_means("macro"),
        of_the_means("weighted"),
    ),
    Mistake(
        "half_of_f1",
        "F1 is half of what it should be; its formula has the factor 2",
        {F1: F1.replace("2 * ", "")},
    ),
    Mistake(
        "arithmetic_mean",
        "F1 is the arithmetic mean of precision and recall; it should be the harmonic one",
        {F1: "f1 = (precision + recall) / 2"},
    ),
    Mistake(
        "nan_for_zero_by_zero",
        "0/0 gives NaN, in a rate or in F1 where precision and recall are both 0; it should be 0",
        rates("{} / {}"),
        {F1: f"f1 = {HARMONIC}"},
    ),
    Mistake(
        "nan_replaced_after_the_mean",
        "NaN is replaced by 0 after the mean, so that one class at 0/0 makes the whole mean 0; replace it before the "
        "mean",
        rates("{} / {}") | {RESULT: RESULT.replace(".float()", ".float().nan_to_num()")},
    ),
    Mistake(
        "one_for_nothing_to_find",
        "binary gives 1 where class 1 is neither true nor predicted, by a case of its own or by taking the last class; "
        "always take class 1, with 0 for 0/0",
        {BINARY: BINARY.replace("[1]", "[top]")},
    ),
    Mistake(
        "one_for_zero_by_zero",
        "0/0 gives 1; it should give 0",
        rates("({} / {}).nan_to_num(1.0)"),
        {F1: f"{F1}\n    f1 = torch.where(predicted + actual > 0, f1, 1.0)"},  # as Dice of two empty sets
    ),
    Mistake(
        "classes_left_out_of_macro",
        "macro leaves out classes that are absent, never true or never predicted; all C classes count, with 0 for 0/0",
        macro_over("predicted + actual > 0"),
        macro_over("actual > 0"),
        {MACRO: MACRO.replace("precision.mean", "precision[predicted > 0].mean").replace("l.m", "l[actual > 0].m")},
    ),
    Mistake(
        "class_0_left_out",
        'micro leaves class 0 out, as background or "no relation", or macro does; all C classes count',
        {SUMS: SUMS.replace(".sum", "[1:].sum")},
        {MACRO: MACRO.replace(".mean", "[1:].mean")},
        {SUMS: SUMS.replace(".sum", "[1:].sum"), MACRO: MACRO.replace(".mean", "[1:].mean")},
    ),
    Mistake(
        "predicted_only_class_dropped",
        "y_true alone gives the number of classes, so a class that is only predicted is dropped; use both inputs",
        {
            CLASSES: 'C = 2 if average == "binary" else num_classes or int(y_true.max()) + 1',
            PREDICTED: f"{PREDICTED}[:C]",
        },
        {"top = …": "top = int(y_true.max())", PREDICTED: ONE_HOT},
        {"top = …": "top = int(y_true.max())"} | from_a_matrix(PAIRS),
    ),
    Mistake(
        "different_labels_counted",
        "the labels that occur are counted to find the number of classes; smaller labels may be absent, so take the "
        "largest label plus 1",
        {CLASSES: DIFFERENT, PREDICTED: ONE_HOT},
        {CLASSES: DIFFERENT} | from_a_matrix(PAIRS),
    ),
    Mistake(
        "binary_without_class_1",
        "binary raises if no label is 1, since only class 0 is counted then; count two classes for binary",
        {CLASSES: "C = num_classes or top + 1"},
    ),
    Mistake(
        "num_classes_ignored",
        "num_classes is ignored; classes beyond the largest label count as well",
        {CLASSES: 'C = 2 if average == "binary" else top + 1'},
    ),
    Mistake(
        "two_classes_at_least",
        "at least two classes are assumed; labels that are all 0 make one class, unless num_classes says more",
        {CLASSES: 'C = 2 if average == "binary" else num_classes or max(2, top + 1)'},
    ),
    Mistake(
        "integer_division",
        "the counts are divided as integers, which gives only 0 and 1; divide as floats",
        rates("({} // {}.clamp_min(1)).float()"),
    ),
    Mistake(
        "micro_is_macro",
        "micro averages the rates of the classes; add up their counts before dividing",
        {"hit, predicted, actual = hit.…": "pass", 'if average == "macro":': 'if average in ("macro", "micro"):'},
    ),
    Mistake(
        "other_weights",
        "the weights of the weighted mean are wrong; weight each class by how often it is true, over the number of "
        "samples",
        {WEIGHT: "weight = predicted.double() / len(y_true)"},
        {WEIGHT: ["weight = torch.full((C,), 1 / C).double()", "weight = actual.double() / C"]},
        {WEIGHT: ["weight = actual.double()", f"{WEIGHT} / C"]},
    ),
    Mistake(
        "binary_of_other_classes",
        "binary describes class 0, the last class or the mean of both classes; take class 1 of two, whatever "
        "num_classes is",
        {BINARY: BINARY.replace("[1]", "[0]")},
        {
            CLASSES: 'C = num_classes or (2 if average == "binary" else top + 1)',
            BINARY: BINARY.replace("[1]", "[-1]"),
        },
        {BINARY: "pass", 'if average == "macro":': 'if average in ("macro", "binary"):'},
    ),
    Mistake(
        "eps_in_the_denominators",
        "a constant such as 1e-6 is added to a denominator to avoid 0/0, which shifts the result; add nothing, and "
        "replace each 0/0 by 0",
        rates("{} / ({} + 1e-5)"),
        *(rates(f"{{}} / ({{}} + {eps})") | {F1: f"f1 = {HARMONIC[:-1]} + {eps})"} for eps in ("1e-5", "1e-7")),
        {F1: [f"f1 = {HARMONIC[:-1]} + {eps})" for eps in ("1e-5", "1e-7")]},
    ),
    Mistake(
        "counts_in_a_narrow_dtype",
        "the counts are kept in the labels' dtype, where 8 bits end at 127 or 255, or in float16, which rounds "
        "counts above 2048; count in 64 bits",
        {
            HIT: HIT.replace(".double()", ".to(y_true.dtype)"),
            PREDICTED: f"{PREDICTED}.to(y_true.dtype)",
            ACTUAL: f"{ACTUAL}.to(y_true.dtype)",
            PRECISION: f"hit = hit.double()\n    {PRECISION}",
        },
        {
            PRECISION: f"hit, predicted, actual = hit.half(), predicted.half(), actual.half()\n    {PRECISION}",
            WEIGHT: WEIGHT.replace("actual.double()", "actual.half()"),
        },
    ),
    Mistake(
        "classes_in_the_labels_dtype",
        "the largest label plus 1 is taken in the labels' dtype, where 127 + 1 or 255 + 1 wraps; make the label an int "
        "first",
        {"top = …": "top = int(torch.cat([y_true, y_pred]).max() + 1) - 1"},
    ),
    Mistake(
        "pairs_in_the_labels_dtype",
        "true * C + predicted is computed in the dtype of the labels, where it wraps; make the labels 64-bit first",
        {HIT: "torch.bincount((y_true * C + y_pred).long() % C**2, minlength=C * C)[:: C + 1].double()"},
        from_a_matrix("torch.bincount(y_true * C + y_pred, minlength=C * C).reshape(C, C)"),
    ),
    Mistake(
        "repeats_lost",
        "samples are added by an indexed +=, which counts equal indices once, however often they occur; use bincount",
        {HIT: "torch.zeros(C).double()\n    hit[y_true.long()] += (y_true == y_pred).double()"},
        from_a_matrix("torch.zeros(C, C)\n    hit[y_true.long(), y_pred.long()] += 1")
        | {WEIGHT: "weight = actual.double() / actual.sum()"},
    ),
    Mistake(
        "shapes_half_checked",
        "some input that is not 1-D is accepted; raise ValueError if y_true or y_pred is not 1-D",
        {DIMENSIONS: DIMENSIONS.replace(" or ", " and ")},
        {DIMENSIONS: "    if y_true.dim() != 1:\n"},
        {DIMENSIONS: "    if y_pred.dim() != 1:\n"},
        {DIMENSIONS: "    y_true, y_pred = y_true.flatten(), y_pred.flatten()\n" + DIMENSIONS},
    ),
    Mistake(
        "labels_above_one_allowed",
        'average="binary" lets some labels above 1 through; look for them in both inputs, even if num_classes is given '
        "or only two different labels occur, and raise ValueError",
        {NOT_BINARY: 'if average == "binary" and y_true.max() > 1:'},
        {NOT_BINARY: 'if average == "binary" and y_pred.max() > 1:'},
        {NOT_BINARY: 'if average == "binary" and len(torch.cat([y_true, y_pred]).unique()) > 2:'},
        {NOT_BINARY: 'if average == "binary" and num_classes is None and top > 1:'},
        {
            NOT_BINARY: "if average == 'binary':\n"
            "        y_true, y_pred = y_true.clamp(max=1), y_pred.clamp(max=1)\n    if False:"
        },
    ),
    Mistake(
        "another_library",
        {HIT: "torch.from_numpy(__import__('numpy').bincount(y_true[y_true == y_pred], minlength=C)).double()"},
    ),
    Mistake(
        "loop_over_samples",
        "a Python loop or a Counter counts one sample after the other; bincount counts them all at once",
        from_a_matrix(
            "torch.zeros(C, C, dtype=torch.long).tolist()\n"
            "    for true, guess in zip(y_true.tolist(), y_pred.tolist()):\n        hit[true][guess] += 1\n"
            "    hit = torch.tensor(hit)"
        ),
        slow=True,
    ),
    Mistake(
        "loop_over_classes",
        "a Python loop goes from class to class; bincount counts all classes at once, and one matrix product gives the "
        "weighted mean",
        {
            HIT: "torch.stack([((y_true == c) & (y_pred == c)).sum() for c in range(C)]).double()",
            PREDICTED: "torch.stack([(y_pred == c).sum() for c in range(C)])",
            ACTUAL: "torch.stack([(y_true == c).sum() for c in range(C)])",
        },
        {
            f'elif average == "weighted":\n        {WEIGHTED}': "elif average == 'weighted':\n"
            "        precision, recall, f1 = (\n"
            "            sum(weight[c] * each[c] for c in range(C)) for each in (precision, recall, f1)\n"
            "        )"
        },
        slow=True,
    ),
    Mistake(
        "every_cell_for_every_sample",
        "a C × C table of all pairs of labels is made for each sample; let bincount count the pairs",
        from_a_matrix(
            "((y_true[:, None, None] == torch.arange(C)[:, None]) & (y_pred[:, None, None] == torch.arange(C))).sum(0)"
        ),
        slow=True,
    ),
)

UNPARSED = CLASSES.replace('"', "'")
# Mutant of the reference -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {
    f"{UNPARSED} -> {UNPARSED.replace('2', '3')}": (
        "only class 1 is read, so a third class, which is empty, changes nothing"
    ),
    "f1 = 2 * hit / (predicted + actual).clamp_min(1) -> f1 = 2 * hit / (predicted + actual).clamp_min(2)": (
        "a class that is predicted or true just once is never hit, and 0/2 is 0/1"
    ),
}

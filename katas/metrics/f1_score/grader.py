"""What is checked of precision_recall_f1."""

from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, Tolerance, close

# All counts are exact and all terms positive, so that a right answer in float32 errs by a few roundings only.
# An eps of 1e-8 beside rates or 1e-6 beside counts is forgiven, larger ones are not.
TOLERANCE = Tolerance(2e-6, 0.0, 1e-8)
MEANS = ("micro", "macro", "weighted", None)


def by_definition(
    y_true: Tensor, y_pred: Tensor, average: str | None = "binary", num_classes: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """From the true and false positives and the false negatives of each class."""
    C = num_classes or int(max(y_true.max(), y_pred.max())) + 1
    classes = torch.tensor([1]) if average == "binary" else torch.arange(C)
    true, predicted = (labels == classes[:, None] for labels in (y_true, y_pred))  # (C, N)
    counts = torch.stack([(true & predicted).sum(1), (~true & predicted).sum(1), (true & ~predicted).sum(1)]).double()
    if average == "micro":
        counts = counts.sum(1, keepdim=True)
    true_positives, false_positives, false_negatives = counts
    precision = quotient(true_positives, true_positives + false_positives)
    recall = quotient(true_positives, true_positives + false_negatives)
    f1 = quotient(2 * precision * recall, precision + recall)
    if average is None:
        return precision, recall, f1
    weight = true_positives + false_negatives if average == "weighted" else torch.ones_like(precision)
    return tuple((weight * each).sum() / weight.sum() for each in (precision, recall, f1))  # type: ignore[return-value]


def quotient(above: Tensor, below: Tensor) -> Tensor:
    return torch.where(below == 0, 0.0, above / below)


def ask(name: str, inputs: Inputs, **options: Any) -> Case:
    """There is nothing floating in the inputs, so every case is asked once, and held against float32."""
    return Case(name, inputs, dtypes=(torch.float32,), **options)


def counted(draw: Draw, table: list[list[int]], **options: Any) -> Arguments:
    """Samples in random order of which table[i][j] have label i and prediction j."""
    matrix = torch.tensor(table)
    samples = torch.arange(matrix.numel()).repeat_interleave(matrix.flatten())
    samples = samples[draw.permutation(len(samples))]
    return {"y_true": samples // matrix.shape[1], "y_pred": samples % matrix.shape[1], **options}


def guesses(draw: Draw, N: int, C: int, **options: Any) -> Arguments:
    """Predictions about half of which are right, every label among both; low labels are the more frequent ones."""
    every = torch.arange(C)
    low = torch.minimum(draw.integers(N - 2 * C, high=C), draw.integers(N - 2 * C, high=C))
    y_true = torch.cat([every, every, low])
    y_pred = torch.where(draw.uniform(N) < 0.5, y_true, draw.integers(N, high=C))
    y_pred[:C], y_pred[C : 2 * C] = every, every.roll(1)
    order = draw.permutation(N)
    return {"y_true": y_true[order], "y_pred": y_pred[order], **options}


def several_averages(precision_recall_f1, y_true, y_pred):
    scores = {str(average): precision_recall_f1(y_true, y_pred, average) for average in ("weighted", None)}
    return scores | {"binary": precision_recall_f1(y_true.clamp(max=1), y_pred.clamp(max=1))}


def binary(draw: Draw) -> list[Arguments]:
    tables = [[[7, 2], [5, 11]], [[13, 8], [1, 3]], draw.integers(2, 2, low=1, high=20).tolist()]
    return [counted(draw, table) for table in tables]


def binary_in_words(draw: Draw) -> list[Arguments]:
    """Whatever num_classes says, class 1 is the one that counts."""
    return [counted(draw, [[9, 4], [2, 6]], average="binary", num_classes=C) for C in (None, 2, 6, draw.size(7, 30))]


def binary_extremes(draw: Draw) -> list[Arguments]:
    """Nobody positive, nobody found, neither, everybody; nothing right, all right."""
    one_sided = [[[6, 3], [0, 0]], [[6, 0], [3, 0]], [[5, 0], [0, 0]], [[0, 0], [0, 4]]]
    made = [counted(draw, table) for table in (*one_sided, [[0, 3], [4, 0]], [[4, 0], [0, 3]])]
    return [*made, made[2] | {"average": "binary", "num_classes": 1}]


def one_sided_classes(draw: Draw) -> list[Arguments]:
    """The largest label is only predicted, or only true; one in between is neither; class 0 does not occur."""
    predicted_only = [[4, 1, 2], [2, 6, 1], [0, 0, 0]]
    true_only = [[4, 1, 0], [2, 6, 0], [1, 3, 0]]
    neither = [[3, 0, 2, 0], [0, 0, 0, 0], [1, 0, 5, 2], [2, 0, 1, 0]]
    no_zero = [[0, 0, 0], [0, 4, 1], [0, 2, 3]]
    tables = (predicted_only, true_only, neither, no_zero)
    return [counted(draw, table, average=average) for table in tables for average in MEANS]


def all_or_nothing(draw: Draw) -> list[Arguments]:
    """Everything right, and nothing right."""
    y_true = torch.cat([torch.arange(4), draw.integers(9, high=4)])
    pairs = [(y_true, y_true.clone()), (y_true, (y_true + 1) % 4)]
    return [{"y_true": one, "y_pred": other, "average": average} for one, other in pairs for average in MEANS]


def one_sample(draw: Draw) -> list[Arguments]:
    asked = [(true, predicted, {}) for true in (0, 1) for predicted in (0, 1)]
    asked += [(i, j, {"average": average}) for i, j in ((3, 3), (3, 5), (3, 1), (0, 0)) for average in ("macro", None)]
    return [{"y_true": torch.tensor([i]), "y_pred": torch.tensor([j]), **options} for i, j, options in asked]


def label_dtypes(draw: Draw) -> list[Arguments]:
    """Counts, pairs of labels and the number of classes that the narrow dtypes cannot hold."""
    tested = counted(draw, [[300, 40], [60, 280]])
    narrow = [tested, *[guesses(draw, 1500, 3, average=average) for average in ("micro", None)]]
    narrow += [guesses(draw, 400, 20, average="weighted"), guesses(draw, 500, 128, average="macro")]
    made = [cast(one, dtype) for one in narrow for dtype in (torch.int8, torch.uint8)]
    made += [cast(tested, torch.int16), cast(tested, torch.int32)]
    # Of the last class there is no hit.
    missed: Arguments = {"y_true": torch.tensor([0, 3, 255]), "y_pred": torch.tensor([0, 255, 3]), "average": None}
    wide = [guesses(draw, 700, 219, average=None), missed]
    return [*made, *[cast(one, torch.uint8) for one in wide]]


def cast(arguments: Arguments, dtype: torch.dtype) -> Arguments:
    return arguments | {name: arguments[name].to(dtype) for name in ("y_true", "y_pred")}


def rare_hits(draw: Draw) -> list[Arguments]:
    """Rates of about 1/400 and thousands of samples: an eps shows, and so do counts in half precision."""
    return [
        counted(draw, [[9000, 1201], [803, 3]]),
        *[counted(draw, [[2, 901, 5], [1303, 4, 700], [3, 1105, 9003]], average=average) for average in MEANS],
    ]


def with_shapes(draw: Draw, shapes: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[Arguments]:
    pairs = [(draw.integers(*one, high=2), draw.integers(*other, high=2)) for one, other in shapes]
    return [{"y_true": i, "y_pred": j, "average": average} for i, j in pairs for average in ("binary", "macro")]


def wrong_shapes(draw: Draw) -> list[Arguments]:
    both = [((6, 1), (6, 1)), ((2, 3), (2, 3)), ((1, 6), (1, 6)), ((), ())]
    one = [((6,), (6, 1)), ((6,), (1, 6)), ((6,), (2, 3)), ((1,), (1, 1)), ((1,), ())]
    return with_shapes(draw, [*both, *one, *(pair[::-1] for pair in one)])


def different_lengths(draw: Draw) -> list[Arguments]:
    return with_shapes(draw, [((i,), (j,)) for i, j in [(6, 5), (5, 6), (1, 6), (6, 1), (0, 6), (6, 0)]])


def not_binary(draw: Draw) -> list[Arguments]:
    """A label above 1 among the true ones, among the predicted ones, and among both, where there may be no 1."""
    zero_one, above = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0, 1, 2, 1, 0])
    pairs = [(above, zero_one), (zero_one, above), (above, above.roll(1))]
    pairs += [(zero_one * 2, zero_one), (zero_one * 2, zero_one * 2)]
    made: list[Arguments] = [{"y_true": one, "y_pred": other} for one, other in pairs]
    return [*made, *[one | {"average": "binary", "num_classes": 3} for one in made]]


def unknown_average(draw: Draw) -> list[Arguments]:
    words = ("samples", "Macro", "none", "None", "mean", "mic", " macro", "")
    return [counted(draw, [[3, 1], [2, 4]], average=word) for word in words]


def no_samples(draw: Draw) -> list[Arguments]:
    none, averages = torch.empty(0, dtype=torch.long), ("binary", *MEANS)
    return [{"y_true": none, "y_pred": none, "average": a, "num_classes": C} for a in averages for C in (None, 3)]


GRADER = Grader(
    answers=(
        Answer(
            'precision_recall_f1(y_true, y_pred, average="binary", num_classes=None)',
            oracle=by_definition,
            returns=(torch.float32,),
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (512, 4096), "classes": (8, 224)},
                    inputs=lambda draw, samples, classes: guesses(draw, samples, classes),
                    scenario=several_averages,
                    peak=600,  # one-hot matrices of samples and classes are welcome
                    written=600,
                    hints={
                        "samples": "bincount counts all samples in one call",
                        "classes": "count the pairs of labels in one bincount",
                    },
                ),
                Budget(
                    "many_of_two_classes",
                    sizes={"samples": (1024, 8192)},
                    inputs=lambda draw, samples: guesses(draw, samples, 2, average="binary"),
                    asks=("memory",),
                    peak=40,
                    written=80,
                    hints={"samples": "compare labels with a class, not with one another"},
                ),
                Budget(
                    "a_hundred_thousand_samples",
                    sizes={"samples": (1000, 100_000)},
                    inputs=lambda draw, samples: guesses(draw, samples, 3, average="macro"),
                    asks=("time",),
                    time=10,
                ),
            ),
            tolerance={torch.float32: TOLERANCE},
            cases=(
                ask("binary", binary),
                ask("binary_in_words", binary_in_words),
                ask("every_mean", lambda draw: [guesses(draw, 60, 5, average=average) for average in MEANS]),
                # With labels 0 and 1 alone, a mean is still one over both classes.
                ask("two_classes", lambda draw: [counted(draw, [[8, 1], [3, 5]], average=a) for a in MEANS]),
                # num_classes goes beyond the largest label; such a class counts 0 in the mean.
                ask(
                    "classes_without_labels",
                    lambda draw: [guesses(draw, 40, 4, average=average, num_classes=7) for average in MEANS],
                ),
                ask("one_sided_classes", one_sided_classes),
                ask("one_sample", one_sample, core=False),
                ask("binary_extremes", binary_extremes, category="robustness"),
                ask("all_or_nothing", all_or_nothing, category="robustness"),
                ask("label_dtypes", label_dtypes, category="robustness"),
                ask("rare_hits", rare_hits, category="robustness"),
                ask("wrong_shapes", wrong_shapes, raises=ValueError),
                ask("different_lengths", different_lengths, raises=ValueError),
                ask("not_binary", not_binary, raises=ValueError),
                ask("unknown_average", unknown_average, raises=ValueError),
                ask("no_samples", no_samples, raises=ValueError),
            ),
        ),
    ),
)


def scores(submission: Submission, **arguments: Any) -> Tensor:
    """(3,) or (3, C)"""
    return torch.stack(submission.call("precision_recall_f1", **arguments))


@pytest.mark.robustness
def test_order_of_samples_does_not_matter(submission: Submission, draw: Draw) -> None:
    asked, order = guesses(draw, 50, 4), draw.permutation(50)
    for average in MEANS:
        once = scores(submission, **asked, average=average)
        shuffled = scores(submission, y_true=asked["y_true"][order], y_pred=asked["y_pred"][order], average=average)
        close(f"values after shuffling the samples, average={average!r}", shuffled, once, TOLERANCE)


def test_swapping_swaps_precision_and_recall(submission: Submission, draw: Draw) -> None:
    asked = guesses(draw, 50, 4)
    for average in ("micro", "macro", None):
        once = scores(submission, **asked, average=average)
        swapped = scores(submission, y_true=asked["y_pred"], y_pred=asked["y_true"], average=average)
        close(f"values after swapping y_true and y_pred, average={average!r}", swapped, once[[1, 0, 2]], TOLERANCE)


def test_micro_is_the_accuracy(submission: Submission, draw: Draw) -> None:
    asked = guesses(draw, 90, 7)
    accuracy = (asked["y_true"] == asked["y_pred"]).double().mean()
    close("values for average='micro'", scores(submission, **asked, average="micro"), accuracy.expand(3), TOLERANCE)


def test_renaming_classes_permutes_them(submission: Submission, draw: Draw) -> None:
    asked, names = guesses(draw, 90, 7), draw.permutation(7)
    renamed = {name: names[value] for name, value in asked.items()}
    once, after = (scores(submission, **each, average=None) for each in (asked, renamed))
    close("values after renaming the classes", after[:, names], once, TOLERANCE)

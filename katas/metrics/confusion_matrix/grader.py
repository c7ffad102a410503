"""What is checked of confusion_matrix."""

from collections import Counter
from itertools import product

import torch
from torch import Tensor

from graders.kata import TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Submission, close

INTEGERS = (torch.int64, torch.uint8, torch.int8, torch.int16, torch.int32)
ONE_OR_BOTH = (("y_true",), ("y_pred",), ("y_true", "y_pred"))


def by_definition(y_true: Tensor, y_pred: Tensor, num_classes: int) -> Tensor:
    matrix = torch.zeros(num_classes, num_classes, dtype=torch.int64)
    for cell, count in Counter(zip(y_true.tolist(), y_pred.tolist(), strict=True)).items():
        matrix[cell] = count
    return matrix


def ask(name: str, inputs: Inputs, raises: bool = False, core: bool = True) -> Case:
    """There is nothing floating in the inputs, so every case is asked once."""
    return Case(name, inputs, dtypes=(torch.float32,), raises=raises, core=core)


def arguments(y_true: Tensor, y_pred: Tensor, num_classes: int, dtype: torch.dtype = torch.int64) -> Arguments:
    return {"y_true": y_true.to(dtype), "y_pred": y_pred.to(dtype), "num_classes": num_classes}


def counted(draw: Draw, table: list[list[int]], dtype: torch.dtype = torch.int64) -> Arguments:
    """Samples in random order whose confusion matrix is the table."""
    matrix = torch.tensor(table)
    samples = torch.arange(matrix.numel()).repeat_interleave(matrix.flatten())
    samples = samples[draw.permutation(len(samples))]
    return arguments(samples // len(table), samples % len(table), len(table), dtype)


def guesses(draw: Draw, N: int, C: int, dtype: torch.dtype = torch.int64, num_classes: int = 0) -> Arguments:
    """Predictions about half of which are right, every label among both; low true labels are the more frequent ones."""
    every = torch.arange(C)
    y_true = torch.cat(
        [every, every, torch.minimum(draw.integers(N - 2 * C, high=C), draw.integers(N - 2 * C, high=C))]
    )
    y_pred = torch.where(draw.uniform(N) < 0.5, y_true, draw.integers(N, high=C))
    y_pred[:C], y_pred[C : 2 * C] = every, every.roll(1)
    order = draw.permutation(N)
    return arguments(y_true[order], y_pred[order], num_classes or C, dtype)


def two_classes(draw: Draw) -> list[Arguments]:
    return [counted(draw, table) for table in ([[7, 2], [5, 11]], [[0, 3], [4, 0]])]


def one_sample(draw: Draw) -> list[Arguments]:
    cells = [(0, 0), (3, 3), (0, 3), (3, 0), (2, 1)]
    return [arguments(torch.tensor([i]), torch.tensor([j]), 4) for i, j in cells]


def classes_that_do_not_occur(draw: Draw) -> list[Arguments]:
    """The last ones; one in between; class 0; the last one is only predicted, or only true."""
    between = [[3, 0, 2, 0], [0, 0, 0, 0], [1, 0, 5, 2], [2, 0, 1, 0]]
    no_zero = [[0, 0, 0], [0, 4, 1], [0, 2, 0]]
    predicted_only = [[4, 1, 2], [2, 6, 1], [0, 0, 0]]
    true_only = [[4, 1, 0], [2, 6, 0], [1, 3, 0]]
    tables = (between, no_zero, predicted_only, true_only)
    return [guesses(draw, 30, 4, num_classes=9), *[counted(draw, table) for table in tables]]


def narrow_cells(draw: Draw) -> list[Arguments]:
    """The labels fit their dtype, the numbers of the cells do not."""
    narrow = [(12, torch.int8), (17, torch.uint8), (17, torch.int8), (100, torch.int8), (185, torch.int16)]
    return [guesses(draw, 450, C, dtype) for C, dtype in narrow]


def narrow_number_of_classes(draw: Draw) -> list[Arguments]:
    """All labels are good, but the dtype cannot hold num_classes."""
    full = [guesses(draw, 300, 128, torch.int8), guesses(draw, 600, 256, torch.uint8)]
    return [*full, guesses(draw, 60, 5, torch.int8, num_classes=130)]


def large_counts(draw: Draw) -> list[Arguments]:
    """Beyond 8 bits, and odd beyond 2048, which float16 does not hold; then beyond 16 bits."""
    tables = [counted(draw, [[301, 40], [60, 2051]], dtype) for dtype in INTEGERS]
    return tables + [counted(draw, [[40_001, 3], [70_003, 2]], dtype) for dtype in (torch.uint8, torch.int64)]


def spoiled(draw: Draw, C: int, labels: tuple[int, ...], dtype: torch.dtype = torch.int64) -> list[Arguments]:
    """Each of these labels somewhere in y_true, in y_pred, and in both."""
    made = []
    for label, names in product(labels, ONE_OR_BOTH):
        one = arguments(draw.integers(6, high=C), draw.integers(6, high=C), C, dtype)
        for name in names:
            one[name][int(draw.integers(high=6))] = label
        made.append(one)
    return made


def negative_labels(draw: Draw) -> list[Arguments]:
    cell_in_range = arguments(torch.tensor([1, 2]), torch.tensor([-1, 0]), 3)
    far = (-1, -5, -100, -(2**16), -(2**63))  # the last is its own absolute value, as is -128 in int8
    return [cell_in_range, *spoiled(draw, 5, far), *spoiled(draw, 3, (-1, -128), torch.int8)]


def labels_too_large(draw: Draw) -> list[Arguments]:
    cell_in_range = arguments(torch.tensor([0, 1]), torch.tensor([3, 1]), 3)
    narrow = spoiled(draw, 21, (21, 255), torch.uint8) + spoiled(draw, 200, (200,), torch.uint8)
    return [cell_in_range, *spoiled(draw, 5, (5, 6, 25, 255, 256, 2**16, 2**32)), *narrow, *spoiled(draw, 1, (1,))]


def different_lengths(draw: Draw) -> list[Arguments]:
    lengths = [(6, 5), (5, 6), (1, 6), (6, 1), (0, 6), (6, 0)]
    return [arguments(draw.integers(one, high=3), draw.integers(other, high=3), 3) for one, other in lengths]


def summed(confusion_matrix, y_true, y_pred, num_classes, sizes):
    parts = zip(y_true.split(sizes), y_pred.split(sizes), strict=True)
    return sum([confusion_matrix(*part, num_classes) for part in parts])


def wrong_shapes(draw: Draw) -> list[Arguments]:
    both = [((6, 1), (6, 1)), ((2, 3), (2, 3)), ((1, 6), (1, 6)), ((), ())]
    one = [((6,), (6, 1)), ((6,), (1, 6)), ((6,), (2, 3)), ((1,), (1, 1)), ((1,), ())]
    shapes = [*both, *one, *(pair[::-1] for pair in one)]
    return [arguments(draw.integers(*one, high=3), draw.integers(*other, high=3), 3) for one, other in shapes]


GRADER = Grader(
    answers=(
        Answer(
            "confusion_matrix(y_true, y_pred, num_classes)",
            oracle=by_definition,
            budgets=(
                Budget(
                    "many_samples",
                    sizes={"samples": (512, 4096), "classes": (8, 192)},
                    inputs=lambda draw, samples, classes: guesses(draw, samples, classes),
                    hints={
                        "samples": "give each sample the number of its cell, and count them with one call",
                        "classes": "count the cells of all classes with one call",
                    },
                ),
                Budget(
                    "a_hundred_thousand_samples",
                    sizes={"samples": (1000, 100_000)},
                    inputs=lambda draw, samples: guesses(draw, samples, 64),
                    asks=("memory",),
                    hints={"samples": "each sample needs the number of its cell, and no more"},
                ),
            ),
            cases=(
                ask("seven_samples", lambda draw: counted(draw, [[1, 1, 0], [0, 2, 1], [1, 0, 1]])),
                ask(
                    "five_classes",
                    lambda draw: [guesses(draw, 70, 5), guesses(draw, draw.size(80, 99), draw.size(6, 30))],
                ),
                ask("two_classes", two_classes),
                ask("one_class", lambda draw: [counted(draw, [[N]]) for N in (6, 1)]),
                ask("one_sample", one_sample),
                ask("classes_that_do_not_occur", classes_that_do_not_occur),
                ask("label_dtypes", lambda draw: [guesses(draw, 50, 4, dtype) for dtype in INTEGERS], core=False),
                ask("narrow_cells", narrow_cells, core=False),
                ask("narrow_number_of_classes", narrow_number_of_classes, core=False),
                ask("large_counts", large_counts, core=False),
                Case(
                    "parts_add_up",
                    lambda draw: guesses(draw, 60, 4) | {"sizes": [25, 34, 1]},
                    scenario=summed,
                    dtypes=(torch.float32,),
                ),
                ask("wrong_shapes", wrong_shapes, raises=ValueError),
                ask("different_lengths", different_lengths, raises=ValueError),
                ask("negative_labels", negative_labels, raises=ValueError),
                ask("labels_too_large", labels_too_large, raises=ValueError),
            ),
        ),
    ),
)


def test_swapping_transposes(submission: Submission, draw: Draw) -> None:
    asked = guesses(draw, 50, 4)
    once = submission.call("confusion_matrix", **asked)
    swapped = submission.call("confusion_matrix", **arguments(asked["y_pred"], asked["y_true"], 4))
    close("values after swapping y_true and y_pred", swapped, once.T, TOLERANCES[torch.float64])

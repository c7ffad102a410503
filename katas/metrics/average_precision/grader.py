"""What is checked of precision_recall_curve and average_precision."""

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from graders.kata import FULL, TOLERANCES, Answer, Budget, Case, Draw, Grader, Submission, Tolerance, close, same_dtype

Arguments = dict[str, Tensor]
LABELS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
# Quotients of whole numbers, and what is added up of them, lose little.
TOLERANCE = TOLERANCES | {torch.float64: Tolerance(0, 0, 1e-10), torch.float32: Tolerance(1e-6, 0, 1e-6)}
HINTS = {"samples": "sort the scores once, then count with cumsum"}


def at_least(thresholds: Tensor, scores: Tensor) -> Tensor:
    """How many scores reach each threshold."""
    return (len(scores) - torch.searchsorted(scores.sort().values, thresholds)).double()


def curve(y_true: Tensor, y_score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """By definition, threshold by threshold."""
    thresholds, positives = y_score.unique(), y_score[y_true == 1]  # type: ignore[no-untyped-call]
    hits, one = at_least(thresholds, positives), torch.ones(1, dtype=torch.float64)
    recall = hits / len(positives) if len(positives) else torch.ones_like(hits)
    return torch.cat([hits / at_least(thresholds, y_score), one]), torch.cat([recall, 0 * one]), thresholds


def average(y_true: Tensor, y_score: Tensor) -> Tensor:
    """The mean, over the positives, of the precision at their scores."""
    positives = y_score[y_true == 1]
    return (at_least(positives, positives) / at_least(positives, y_score)).sum() / max(len(positives), 1)


def scored(draw: Draw, negatives: int, positives: int, std: float = 1.0, to_one: int = 0) -> Arguments:
    """Scores that tell something, but not everything, about the labels; all distinct, or in steps of a few to one."""
    y_true = (draw.permutation(negatives + positives) < positives).long()
    y_score = std * (draw.normal(len(y_true)) + y_true)
    return {"y_true": y_true, "y_score": (to_one * y_score).round() / to_one if to_one else y_score}


def few(draw: Draw) -> list[Arguments]:
    return sized((1, 1), (2, 1), (1, 2), (5, 1), draw.shape(2))(draw)


def sized(*counts: tuple[int, ...], steps=(0, 1), stds=(1.0,)) -> Callable[..., list[Arguments]]:
    """So many negatives and positives each, without ties and with them, and as large or small as the stds."""
    return lambda draw: [scored(draw, *one, std, to_one) for one in counts for to_one in steps for std in stds]


def ties(draw: Draw) -> list[Arguments]:
    """Few distinct scores; one score only; a zero of either sign, which are equal."""
    given, grid = scored(draw, 34, 19), draw.integers(53, low=-2, high=4) / 4
    zeros = torch.where(draw.integers(53, high=2) == 1, 0.0, -0.0).double()
    zeros[:3] = torch.tensor([-1.0, 0.5, 1.0])
    scores = (grid + given["y_true"] / 4, grid.round(), torch.full_like(grid, -0.75), zeros)
    return [given | {"y_score": y_score} for y_score in scores]


def label_dtypes(draw: Draw) -> list[Arguments]:
    """More samples than the narrow integers can count, in all and, where most scores are 0, at one of them."""
    made = [scored(draw, 330, 290), scored(draw, 330, 290, std=0.3, to_one=1)]
    return [one | {"y_true": one["y_true"].to(dtype)} for one in made for dtype in LABELS]


def nearly_equal(draw: Draw) -> list[Arguments]:
    """Distances of 1e-13, where float32 and isclose see ties, of one last bit, and of 1e-300; some are equal indeed."""
    given, step = scored(draw, 21, 16), draw.integers(37, low=-20, high=20).double()
    scores = (0.7 + 1e-13 * step, 1.5 + 2.0**-52 * step, 1e-300 * step)
    return [given | {"y_score": y_score} for y_score in scores]


def unusable_shapes(draw: Draw) -> list[Arguments]:
    """One or both not 1-D, lengths that differ, and nothing at all."""
    odd = ((6, 1), (1, 6), (2, 3), (), (0,), (1,), (5,))
    shapes = [pair for one in odd for pair in ((one, (6,)), ((6,), one))] + [(one, one) for one in odd[:5]]
    return [{"y_true": draw.integers(*one, high=2), "y_score": draw.normal(*other)} for one, other in shapes]


def other_labels(draw: Draw) -> list[Arguments]:
    y_true = torch.tensor([0, 1, 1, 0, 1])
    odd = (torch.tensor([0, 1, 2, 1, 0]), torch.tensor([0, 1, 1, -1, 0]), (2 * y_true - 1).to(torch.uint8))
    renamed = (2 * y_true - 1, y_true + 1, 2 * y_true, y_true - 1, 0 * y_true + 2, 0 * y_true - 1)
    wrapped = (256 * y_true, 257 * y_true, -255 * y_true)  # 0 and 1 in bytes
    return [{"y_true": other, "y_score": draw.normal(5)} for other in (*odd, *renamed, *wrapped)]


def nan_scores(draw: Draw) -> list[Arguments]:
    y_true = torch.tensor([0, 1, 1, 0, 1])
    where = (y_true < 2, y_true == 1, *torch.eye(5, dtype=torch.bool))
    made = [{"y_true": y_true, "y_score": draw.normal(5).masked_fill(missing, torch.nan)} for missing in where]
    return [*made, made[0] | {"y_true": 0 * y_true}]


def halved(to_one: int) -> Callable[..., Arguments]:
    """In steps of ⅛ there are some 80 distinct scores: what goes through all samples for each of those comes back."""
    return lambda draw, samples: scored(draw, samples // 2, samples // 2, to_one=to_one)


def asked(name: str, oracle, *asks: str) -> Answer:
    """Both functions are asked about the same kinds of input."""
    word, dtypes = oracle.__name__, (*FULL, torch.float16)
    return Answer(
        f"{name}(y_true, y_score)",
        oracle=oracle,
        returns=tuple(TOLERANCES),  # test_dtypes_of_the_results says which of them
        tolerance=TOLERANCE,
        cases=(
            Case(f"{word}_of_29", lambda draw: scored(draw, 18, 11)),
            Case(f"{word}_with_ties", ties),
            Case(f"{word}_few_samples", few),
            Case(f"{word}_no_negatives", sized((0, 7), (0, 1))),
            Case(f"{word}_no_positives", sized((7, 0), (1, 0))),
            Case(f"{word}_label_dtypes", label_dtypes, dtypes=(torch.float32,), core=False),
            Case(
                f"{word}_of_many",
                sized((80_011, 70_003), steps=(4,)),
                dtypes=(torch.float64, torch.float16),
                core=False,
            ),
            Case(f"{word}_of_any_size", sized((14, 23), stds=(200.0, 1e-4)), category="robustness", dtypes=dtypes),
            Case(f"{word}_nearly_equal", nearly_equal, category="robustness", dtypes=(torch.float64,)),
            Case(f"{word}_unusable_shapes", unusable_shapes, raises=ValueError),
            Case(f"{word}_other_labels", other_labels, raises=ValueError),
            Case(f"{word}_nan_scores", nan_scores, raises=ValueError),
        ),
        budgets=(
            Budget(f"{word}_of_thousands", {"samples": (256, 2048)}, halved(0), hints=HINTS),
            Budget(
                f"{word}_of_a_quarter_million", {"samples": (1000, 250_000)}, halved(8), asks=asks, time=5, hints=HINTS
            ),
        ),
    )


GRADER = Grader((asked("precision_recall_curve", curve, "time"), asked("average_precision", average, "memory", "time")))


@pytest.mark.robustness
def test_dtypes_of_the_results(submission: Submission, draw: Draw) -> None:
    """What comes in float64 has its accuracy, whatever the scores are; thresholds are the scores, to the last bit."""
    counts = ((250, 90), (7, 0), (0, 7), (1, 0), (0, 1))
    for answer, dtype, count in itertools.product(GRADER.answers, TOLERANCES, counts):
        given = scored(draw, *count)
        given["y_score"] = given["y_score"].to(dtype)
        got, wanted = submission.call(answer.name, **given), answer.oracle(given["y_true"], given["y_score"].double())
        pairs = [(got, wanted)] if isinstance(wanted, Tensor) else zip(got, wanted, strict=True)
        for at, (one, right) in enumerate(pairs, start=1):
            same_dtype(f"output {at}", one, (torch.float64, dtype))
            close(f"output {at}", one, right, TOLERANCE[one.dtype] if at < 3 else Tolerance(0, 0, 0))

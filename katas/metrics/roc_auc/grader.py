"""What is checked of roc_curve and roc_auc."""

import contextlib

import pytest
import torch
from torch import Tensor

from graders.kata import (
    FULL,
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    CheckFailed,
    Draw,
    Grader,
    Submission,
    Tolerance,
    close,
    same_dtype,
)

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def curve(y_true: Tensor, y_score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """By definition: for every threshold, the share of each class that scores at least that."""
    thresholds = torch.cat([torch.tensor([torch.inf]).double(), y_score.unique().flip(0)])  # type: ignore[no-untyped-call]
    positives, negatives = y_score[y_true == 1].sort().values, y_score[y_true == 0].sort().values
    return share_from(negatives, thresholds), share_from(positives, thresholds), thresholds


def share_from(ascending: Tensor, thresholds: Tensor) -> Tensor:
    return 1 - torch.searchsorted(ascending, thresholds).double() / len(ascending)


def area(y_true: Tensor, y_score: Tensor) -> Tensor:
    """By pairs: the negatives below each positive count 1, those level with it ½; counted in integers."""
    positives, negatives = y_score[y_true == 1], y_score[y_true == 0].sort().values
    below = torch.searchsorted(negatives, positives)
    below_or_level = torch.searchsorted(negatives, positives, right=True)
    return (below + below_or_level).sum().double() / (2 * len(positives) * len(negatives))


def labels(draw: Draw, negatives: int, positives: int) -> Tensor:
    return (draw.permutation(negatives + positives) < positives).long()


def scored(draw: Draw, negatives: int, positives: int, std: float = 1.0) -> Arguments:
    """Scores that tell something, but not everything, about the labels."""
    y_true = labels(draw, negatives, positives)
    return {"y_true": y_true, "y_score": std * (draw.normal(len(y_true)) + y_true)}


def ties(draw: Draw) -> list[Arguments]:
    """Few distinct scores; one score only; a zero of either sign, which are equal."""
    y_true = labels(draw, 34, 19)
    grid = draw.integers(53, low=-2, high=4) / 4
    zeros = torch.where(draw.integers(53, high=2) == 1, 0.0, -0.0).double()
    zeros[:3] = torch.tensor([-1.0, 0.5, 1.0])
    scores = [grid + y_true / 4, grid.round(), torch.full_like(grid, -0.75), zeros]
    return [{"y_true": y_true, "y_score": y_score} for y_score in scores]


def two_samples(draw: Draw) -> list[Arguments]:
    low, high = draw.uniform(1), 1 + draw.uniform(1)
    scores = (torch.cat([low, high]), torch.cat([high, low]), torch.cat([low, low]))
    return [{"y_true": torch.tensor([0, 1]), "y_score": y_score} for y_score in scores]


def label_dtypes(draw: Draw) -> list[Arguments]:
    """More samples than the narrow integers can count, in all and, where most scores are 0, at one of them."""
    made = [scored(draw, 330, 290), scored(draw, 330, 290, std=0.3)]
    made[1]["y_score"] = in_steps(made[1]["y_score"], 1)
    return [one | {"y_true": one["y_true"].to(dtype)} for one in made for dtype in (*INTEGERS, torch.bool)]


def told_apart(draw: Draw) -> list[Arguments]:
    """Every positive above every negative, and below."""
    y_true, y_score = labels(draw, 13, 8), draw.uniform(21)
    return [{"y_true": y_true, "y_score": y_score + shift * y_true} for shift in (1.5, -1.5)]


def nearly_equal(draw: Draw) -> list[Arguments]:
    """Distances of 1e-13, where float32 and isclose see ties, of one last bit, of 1e-300, of 1e300; some are equal."""
    y_true, step = labels(draw, 21, 16), draw.integers(37, low=-20, high=20).double()
    scores = (0.7 + 1e-13 * step, 1.5 + 2.0**-52 * step, 1e-300 * step, 1e300 * step)
    return [{"y_true": y_true, "y_score": y_score} for y_score in scores]


def of_any_size(draw: Draw) -> list[Arguments]:
    """Far beyond [0, 1], where a sigmoid saturates; and so small that anything added to them hides them."""
    return [scored(draw, 14, 23, std=200.0), scored(draw, 23, 14, std=1e-4)]


def many(draw: Draw) -> Arguments:
    """So many that all pairs do not fit in memory, that float32 cannot add or multiply them, nor float16 count them.

    Few of the scores are distinct: what goes through all samples for each of those is right, and left to the budgets.
    """
    arguments = scored(draw, 80_011, 70_003)
    return arguments | {"y_score": in_steps(arguments["y_score"], 4)}


def in_steps(scores: Tensor, to_one: int) -> Tensor:
    return (to_one * scores).round() / to_one


def many_scores(draw: Draw, samples: int) -> Arguments:
    return {"y_true": draw.integers(samples, high=2), "y_score": draw.normal(samples)}


def coarse_scores(draw: Draw, samples: int) -> Arguments:
    """Some 80 distinct ones among very many, so that what goes through all samples for each of those comes back."""
    arguments = many_scores(draw, samples)
    return arguments | {"y_score": in_steps(arguments["y_score"], 8)}


def different_lengths(draw: Draw) -> list[Arguments]:
    y_true, y_score = torch.tensor([0, 1, 1, 0, 1, 0]), draw.normal(6)
    pairs = [(y_true, y_score[:5]), (y_true[:5], y_score), (y_true, y_score[:1]), (y_true[:2], y_score)]
    return [{"y_true": true, "y_score": score} for true, score in pairs]


def one_class(draw: Draw) -> list[Arguments]:
    zeros = torch.zeros(5, dtype=torch.long)
    found = (zeros, zeros + 1, zeros == 0, zeros == 1, zeros[:1], zeros[:1] + 1)
    return [{"y_true": y_true, "y_score": draw.normal(len(y_true))} for y_true in found]


def other_labels(draw: Draw) -> list[Arguments]:
    y_true = torch.tensor([0, 1, 1, 0, 1])
    odd = [
        torch.tensor([0, 1, 2, 1, 0]),
        torch.tensor([0, 1, 1, -1, 0]),
        torch.tensor([3, -1, 1, 0, 0]),
        (2 * y_true - 1).to(torch.uint8),
    ]
    renamed = [2 * y_true - 1, y_true + 1, 2 * y_true, y_true - 1]
    wrapped = [256 * y_true, 257 * y_true, -255 * y_true]  # 0 and 1 in bytes
    return [{"y_true": other, "y_score": draw.normal(5)} for other in (*odd, *renamed, *wrapped)]


def nan_scores(draw: Draw) -> list[Arguments]:
    y_true = torch.tensor([0, 1, 1, 0, 1])
    where = (y_true < 2, y_true == 1, *torch.eye(5, dtype=torch.bool))
    return [{"y_true": y_true, "y_score": draw.normal(5).masked_fill(missing, torch.nan)} for missing in where]


def asked(word: str) -> tuple[Case, ...]:
    """Both functions are asked about the same kinds of input."""
    return (
        Case(f"{word}_of_29", lambda draw: scored(draw, 18, 11)),
        Case(f"{word}_with_ties", ties),
        Case(f"{word}_told_apart", told_apart),
        Case(f"{word}_one_positive", lambda draw: scored(draw, draw.size(20, 60), 1)),
        Case(f"{word}_two_samples", two_samples),
        Case(f"{word}_label_dtypes", label_dtypes, dtypes=(torch.float32,), core=False),
        Case(f"{word}_of_any_size", of_any_size, category="robustness", dtypes=(*FULL, torch.float16)),
        Case(f"{word}_nearly_equal", nearly_equal, category="robustness", dtypes=(torch.float64,)),
        Case(f"{word}_of_many", many, category="robustness", dtypes=(torch.float64, torch.float16)),
        Case(f"{word}_different_lengths", different_lengths, raises=ValueError),
        Case(f"{word}_one_class", one_class, raises=ValueError),
        Case(f"{word}_other_labels", other_labels, raises=ValueError),
        Case(f"{word}_nan_scores", nan_scores, raises=ValueError),
        Case(f"{word}_of_nothing", lambda draw: many_scores(draw, 0), raises=ValueError),
    )


def budgets(thousands: str, more: str, *asks: str) -> tuple[Budget, ...]:
    hints = {"samples": "sort the scores once, then count with cumsum"}
    return (
        Budget(thousands, sizes={"samples": (256, 2048)}, inputs=many_scores, hints=hints),
        Budget(more, sizes={"samples": (1000, 250_000)}, inputs=coarse_scores, asks=asks, time=5, hints=hints),
    )


GRADER = Grader(
    answers=(
        Answer(
            "roc_curve(y_true, y_score)",
            oracle=curve,
            cases=asked("curve"),
            returns=(*FULL, *HALF),  # test_dtypes_of_the_curve says which of them
            budgets=budgets("curve_of_thousands", "curve_of_a_quarter_million", "time"),
            # A rate is one quotient of whole numbers, perhaps 1 minus it, and loses little even in the scores' dtype.
            tolerance={
                torch.float32: Tolerance(1e-6, 0.0, 1e-6),
                torch.float16: Tolerance(4e-3, 0.0, 1e-3),
                torch.bfloat16: Tolerance(3e-2, 0.0, 1e-2),
            },
        ),
        Answer(
            "roc_auc(y_true, y_score)",
            oracle=area,
            cases=asked("area"),
            returns=(torch.float64,),
            budgets=budgets("many_scores", "a_quarter_million_scores", "memory", "time"),
            # The scores are only compared, so their dtype costs nothing.
            tolerance=dict.fromkeys((*FULL, *HALF), Tolerance(0.0, 0.0, 1e-10)),
        ),
    ),
)


@pytest.mark.robustness
def test_dtypes_of_the_curve(submission: Submission, draw: Draw) -> None:
    for dtype in (*FULL, *HALF):
        outputs = submission.call("roc_curve", y_true=labels(draw, 7, 5), y_score=draw.normal(12).to(dtype))
        for index, output in enumerate(outputs):
            same_dtype(f"output {index + 1} for scores of {dtype}", output, (torch.float64, dtype))


@pytest.mark.contract
def test_a_column_beside_a_row_gives_no_result(submission: Submission, draw: Draw) -> None:
    """As many of both, but of other shapes: which error that is the statement leaves open."""
    y_true, y_score = labels(draw, 3, 3), draw.normal(6)
    for name in ("roc_curve", "roc_auc"):
        for one, other in ((y_true[:, None], y_score), (y_true, y_score[:, None])):
            with contextlib.suppress(CheckFailed):
                submission.call(name, y_true=one, y_score=other)
                raise AssertionError(f"{name}: should raise where one of y_true and y_score is a column, got a result")


@pytest.mark.robustness
def test_thresholds_are_the_scores(submission: Submission, draw: Draw) -> None:
    """To the last bit: whoever applies a threshold should find the samples that it stands for."""
    for dtype in (*FULL, *HALF):
        y_score, y_true = draw.normal(24).to(dtype), labels(draw, 10, 14)
        thresholds = submission.call("roc_curve", y_true=y_true, y_score=y_score)[2]
        wanted = curve(y_true, y_score.double())[2]
        close(f"thresholds for scores of {dtype}", thresholds, wanted, Tolerance(0.0, 0.0, 0.0))


def spread(draw: Draw) -> Tensor:
    """(40,) scores from -3 to 3 with ties, far enough from each other to stay apart under any map below."""
    return (draw.integers(40, low=-12, high=13) / 4).double()


def test_increasing_map_changes_nothing(submission: Submission, draw: Draw) -> None:
    y_true, y_score = labels(draw, 23, 17), spread(draw)
    once = submission.call("roc_auc", y_true=y_true, y_score=y_score)
    maps = {"exp": y_score.exp(), "cubing": y_score**3, "tanh": y_score.tanh(), "a shift": y_score - 9}
    for word, mapped in maps.items():
        after = submission.call("roc_auc", y_true=y_true, y_score=mapped)
        close(f"the area after {word}", after, once, TOLERANCES[torch.float64])


def test_negation_turns_it_over(submission: Submission, draw: Draw) -> None:
    y_true, y_score = labels(draw, 23, 17), spread(draw)
    once = submission.call("roc_auc", y_true=y_true, y_score=y_score)
    negated = submission.call("roc_auc", y_true=y_true, y_score=-y_score)
    close("the area under -y_score", negated, 1 - once, TOLERANCES[torch.float64])
    flipped = submission.call("roc_auc", y_true=1 - y_true, y_score=y_score)
    close("the area for 1 - y_true", flipped, 1 - once, TOLERANCES[torch.float64])


@pytest.mark.robustness
def test_order_of_samples_does_not_matter(submission: Submission, draw: Draw) -> None:
    y_true, y_score, order = labels(draw, 23, 17), spread(draw), draw.permutation(40)
    once = submission.call("roc_curve", y_true=y_true, y_score=y_score)
    again = submission.call("roc_curve", y_true=y_true[order], y_score=y_score[order])
    for index, (one, other) in enumerate(zip(once, again, strict=True)):
        close(f"output {index + 1} after shuffling the samples", other, one, TOLERANCES[torch.float64])
    one, other = (submission.call("roc_auc", y_true=y_true[o], y_score=y_score[o]) for o in (slice(None), order))
    close("the area after shuffling the samples", other, one, TOLERANCES[torch.float64])

"""What is checked of regression_losses."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs

FLOAT64, BOTH_SIGNS = (torch.float64,), torch.tensor([1, -1])
REDUCTIONS = ("mean", "sum", "none")
SHAPES = ((), (1,), (6,), (4, 1), (1, 5, 2), (2, 3, 1, 4))
# Most of them would broadcast, or have as many numbers.
DIFFERENT = (((5, 1), (5,)), ((5,), (1,)), ((1,), ()), ((5,), ()), ((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (4, 3)))
DIFFERENT += (((3, 4), (12,)), ((3, 4), (2, 4)))


def pair(draw: Draw, *shape: int, mean: float = 0.0, **options: Any) -> Arguments:
    """Targets of both signs, at least 0.5 away from 0, and errors on both sides of 1."""
    target = draw.normal(*shape, mean=mean)
    target = target + 0.5 * target.sign()
    return {"pred": target + draw.normal(*shape, std=1.5), "target": target, **options}


def with_each(name: str, *values: Any) -> Inputs:
    return lambda draw: [pair(draw, 5, 7) | {name: value} for value in values]


def of_each_shape(draw: Draw) -> list[Arguments]:
    """Where there are several numbers, every third is predicted exactly; then all of them, and some far from 0."""
    made = [pair(draw, *shape, reduction=how) for shape in SHAPES for how in REDUCTIONS]
    for one in made:
        one["pred"].view(-1)[1::3] = one["target"].view(-1)[1::3]
    exact = pair(draw, 5)["target"]
    far = [pair(draw, 5, 7, mean=1e6, reduction=how) for how in REDUCTIONS]
    drawn = [pair(draw, *draw.shape(4, most=6), reduction=how) for how in REDUCTIONS]
    return [*made, {"pred": exact.clone(), "target": exact}, *far, *drawn]


def typical(draw: Draw) -> list[Arguments]:
    """Of 5 by 7; then errors of ±60, so that float16 holds each loss and their mean, but not their sum."""
    many = pair(draw, 50, 40)
    many["pred"] = many["target"] + 60 * draw.normal(50, 40).sign()
    return [pair(draw, 5, 7), many]


def of_other_shapes(draw: Draw) -> list[Arguments]:
    both_ways = [*DIFFERENT, *(shapes[::-1] for shapes in DIFFERENT)]
    return [{"pred": draw.normal(*one), "target": draw.normal(*other)} for one, other in both_ways]


def deltas(draw: Draw) -> list[Arguments]:
    """The first two errors are delta and −delta."""
    listed = (1e-7, 0.7, 3, 200.5, draw.number(0.2, 2))
    made = [pair(draw, 5, 7, delta=delta, reduction=how) for delta in listed for how in REDUCTIONS]
    for one in made:
        one["target"][0, :2] = 0
        one["pred"][0, :2] = one["delta"] * BOTH_SIGNS
    return made


def far_off(low: float) -> Inputs:
    """Half of the errors are of either sign, from `low` on, of which two are errors of the target."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = [pair(draw, 8, delta=delta, reduction=how) for delta in (1.0, 2.5) for how in REDUCTIONS]
        for one in made:
            one["pred"][:2], one["target"][2:4] = (draw.uniform(2, low=low, high=9 * low) * BOTH_SIGNS for _ in "pt")
        return made

    return inputs


def not_positive(draw: Draw) -> list[Arguments]:
    return [pair(draw, 5, 7, delta=delta, reduction=how) for delta in (0, 0.0, -1e-3, -1) for how in REDUCTIONS]


def small_targets(draw: Draw) -> list[Arguments]:
    """Zeros and numbers around eps, of both signs; the first two zeros are predicted exactly."""
    made: list[Arguments] = []
    sizes = torch.tensor([0.0, -0.0, 0, 0, 0.3, -0.3, 0.9, -0.9, 4, -4, 30, -30]).double()
    for options in ({}, {"eps": 0.5}, {"eps": 2}, {"eps": draw.number(0.1, 1)}):  # the default is really used
        target = sizes * options.get("eps", 1e-8)
        pred = (target + draw.normal(12)).index_fill(0, torch.arange(2), 0)
        made += [{"pred": pred, "target": target, "reduction": how, **options} for how in REDUCTIONS]
    return made


def answer(signature: str, losses: Callable[..., Tensor], *more: Case) -> Answer:
    name = signature.partition("(")[0]

    def oracle(pred: Tensor, target: Tensor, reduction: str = "mean", **option: float) -> Tensor:
        of_each = losses(pred, target, **option)
        return {"mean": of_each.mean(), "sum": of_each.sum(), "none": of_each}[reduction]

    unknown = with_each("reduction", "average", "means", " mean", "Mean", "NONE", "")
    cases = (
        Case(f"{name}_five_by_seven", typical),
        Case(
            f"{name}_reductions",
            with_each("reduction", *REDUCTIONS),
            dtypes=(torch.float32,),
            half=True,
            gradients="none",
        ),
        Case(f"{name}_of_each_shape", of_each_shape, dtypes=FLOAT64),
        *more,
        Case(f"{name}_of_other_shapes", of_other_shapes, raises=ValueError),
        Case(f"{name}_unknown_reduction", unknown, raises=ValueError),
    )
    budget = Budget(
        f"{name}_of_many",
        sizes={"rows": (32, 128), "columns": (4, 64)},
        inputs=lambda draw, rows, columns: pair(draw, rows, columns),
        hints=dict.fromkeys(("rows", "columns"), "subtract and multiply whole tensors at once"),
    )
    return Answer(signature, oracle=oracle, differentiable=("pred",), cases=cases, budgets=(budget,))


GRADER = Grader(
    answers=(
        answer(
            'mse(pred, target, reduction="mean")',
            lambda p, t: F.mse_loss(p, t, reduction="none"),
        ),
        answer('mae(pred, target, reduction="mean")', lambda p, t: F.l1_loss(p, t, reduction="none")),
        answer(
            'huber(pred, target, delta=1.0, reduction="mean")',
            lambda p, t, delta=1.0: F.huber_loss(p, t, "none", delta),
            Case("huber_deltas", deltas, dtypes=FLOAT64),
            Case("huber_squares_overflow", far_off(1e25), dtypes=(torch.float32,), category="robustness"),
            Case("huber_squares_overflow_float16", far_off(300), dtypes=(torch.float16,), category="robustness"),
            Case("huber_delta_not_positive", not_positive, raises=ValueError),
        ),
        answer(
            'mape(pred, target, eps=1e-8, reduction="mean")',
            lambda p, t, eps=1e-8: 100 * (p - t).abs() / t.abs().clamp_min(eps),
            Case("mape_small_targets", small_targets, category="robustness"),
        ),
    ),
    banned=("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "gaussian_nll_loss", "distributions"),
)

"""What is checked of softmax and log_softmax."""

import torch
from torch import Tensor

from graders.kata import (
    FULL,
    HALF,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Submission,
    Tolerance,
    bans,
    close,
    far,
    last_places,
)

# Neighbours of 1e4 are 1e-3 apart in float32: x - (max + log Σ) is no closer, in one step, than in two.
FAR = {torch.float64: Tolerance(1e-9, 0, 4e-12), torch.float32: Tolerance(1e-6, 0, 1e-3)}


def several_shapes(draw: Draw) -> list[Arguments]:
    return [{"x": draw.normal(5, 7)}, {"x": draw.normal(9)}, {"x": draw.normal(2, 3, 4)}]


def every_dim(draw: Draw) -> list[Arguments]:
    asked = [((3, 4, 5), dim) for dim in range(-3, 3)]
    asked += [((4, 4), 0), ((4, 4), 1), ((3, 3, 3), 1), ((2, 3, 4, 5), 1), ((2, 3, 1, 2, 3), -2), ((6,), 0)]
    asked += [((5, 1), -1), ((1, 7), 1), ((1, 7), 0), ((1,), 0), ((2, 1, 3), 1), ((1, 1, 4), 2)]
    made = [{"x": draw.normal(*shape), "dim": dim} for shape, dim in asked]
    for one in made:
        one["x"].view(-1)[0] = 0  # along an axis of length 1, x / x would be NaN there
    drawn = [draw.shape(axes, most=most) for axes, most in ((1, 40), (3, 9), (5, 6))]
    return made + [{"x": draw.normal(*shape), "dim": draw.size(0, len(shape) - 1)} for shape in drawn]


def far_from_zero(draw: Draw) -> list[Arguments]:
    """Around 1e4, 0 and -1e4: a level for each vector along dim, and within one; hundreds apart; beside -inf."""
    levels = 1e4 * torch.tensor([1, -1, 0, 1, -1, 0], dtype=torch.float64)
    hundreds = (torch.arange(8)[:, None] + torch.arange(7)) % 7  # far from where exp is subnormal
    grid = levels[(torch.arange(3)[:, None] + torch.arange(4)) % 3]
    return [
        {"x": draw.normal(6, 5, std=2.0) + levels[:, None]},
        {"x": draw.normal(3, 5, 4, std=2.0) + grid[:, None], "dim": 1},
        {"x": draw.normal(4, 6, std=2.0) + levels},
        {"x": draw.normal(8, 7, std=2.0) + 300 * hundreds},
        {"x": impossible(draw.normal(6, 5, std=8.0)) - 1e4},
    ]


def impossible(x: Tensor) -> Tensor:
    """Each row has lost an entry, and the first has kept one alone."""
    rows = torch.arange(len(x))
    x[rows, rows % x.shape[1]] = -torch.inf
    x[0, :-1] = -torch.inf
    return x


def some_impossible(draw: Draw) -> list[Arguments]:
    return [{"x": impossible(draw.normal(6, 5))}, {"x": impossible(draw.normal(6, 4)).mT, "dim": 0}]


def equal_numbers(draw: Draw) -> list[Arguments]:
    """Two maxima, nothing but one number, and nothing but -inf, of length 1 too, where gradients are NaN."""
    x = impossible(draw.normal(6, 5))
    x[[1, 4]] = -torch.inf
    ties = torch.tensor([[3, 1, 3, 0], [0, 0, 0, 0], [-2, -1, -1, -5]], dtype=torch.float64)
    lost = torch.full((3,), -torch.inf).double()
    return [{"x": ties}, {"x": x}, {"x": x.mT.clone(), "dim": 0}, {"x": lost}, {"x": x[:, :1]}]


def around_20(draw: Draw) -> list[Arguments]:
    """exp overflows above 11.09 in float16, and is 0 below -17.4. Gradients would be as coarse as x."""
    levels = torch.tensor([20.0, -20.0, 20.0, -20.0])
    shifted = [draw.normal(4, 7) + levels[:, None], draw.normal(7, 4) + levels, draw.normal(7, 4) + levels]
    return [{"x": x, "dim": dim} for x, dim in zip(shifted, (-1, 0, 1), strict=True)]


def far_in_half(draw: Draw) -> list[Arguments]:
    """Along the last axis, and along the first."""
    return [asked for x in far.rows(draw, 6, 7) for asked in ({"x": x}, {"x": x.mT.clone(), "dim": 0})]


def together(softmax, log_softmax, a, b, lost):
    """All calls before the first backward pass; where an entry is lost, the log is exactly -inf."""
    p, q, logs = softmax(a, 0), softmax(b, 0), log_softmax(b, 0)
    found = {
        "cross": p * logs,
        "twice": log_softmax(p, 1),
        "back": softmax(logs, 1),
        "lost": softmax(lost).detach().log(),
    }
    return found | {"p": p, "q": q, "logs": logs}


def possible(log_softmax, x, dim=-1):
    """Nothing flows back into a result of -inf, which has no slope."""
    logs = log_softmax(x, dim)
    return {"all": logs.detach(), "possible": logs.masked_fill(logs.isinf(), 0)}


def along_both_axes(softmax, log_softmax, name, x):
    one = {"softmax": softmax, "log_softmax": log_softmax}[name]
    return {"along the last axis": one(x), "along the first": one(x.mT, 0)}


def of_both(draw: Draw) -> Arguments:
    rows, columns = draw.shape(2)
    return {name: draw.normal(rows, columns) for name in "ab"} | {"lost": impossible(draw.normal(*draw.shape(2)))}


def answer(name: str, *more: Case) -> Answer:
    """The same cases for each of the two."""
    scenario = possible if name == "log_softmax" else None
    return Answer(
        f"{name}(x, dim=-1)",
        oracle=lambda x, dim=-1: getattr(torch, name)(x, dim),
        differentiable=("x", "a", "b") if more else ("x",),
        tolerance=last_places(6),  # a gradient is a difference, of which 4 are needed
        budgets=(
            Budget(
                f"{name}_of_many",
                sizes={"rows": (32, 256), "classes": (16, 384)},
                inputs=lambda draw, rows, classes: {"name": name, "x": draw.normal(rows, classes)},
                scenario=along_both_axes,
                hints={"rows": "reduce along dim alone", "classes": "reduce along dim with one call"},
            ),
        ),
        cases=(
            Case(f"{name}_of_several_shapes", several_shapes),
            Case(f"{name}_along_every_dim", every_dim),
            Case(f"{name}_far_from_zero", far_from_zero, category="robustness", tolerance=FAR, scenario=scenario),
            Case(
                f"{name}_of_some_impossible",
                some_impossible,
                category="robustness",
                dtypes=(*FULL, *HALF),
                scenario=scenario,
            ),
            Case(f"{name}_of_equal_numbers", equal_numbers, gradients="none", category="robustness"),
            Case(
                f"{name}_around_20",
                around_20,
                gradients="none",
                category="robustness",
                dtypes=(torch.float16,),
                tolerance=last_places(12),  # of which x − (max + log Σ) in one step needs 8
            ),
            Case(f"{name}_far_in_half", far_in_half, gradients="none", category="robustness", dtypes=HALF),
            *more,
        ),
    )


GRADER = Grader(
    answers=(
        answer("softmax"),
        answer("log_softmax", Case("together", of_both, scenario=together)),
    ),
    banned=(*bans.SOFTMAX, "logaddexp", "nll_loss"),
)


def test_adding_a_number_changes_nothing(submission: Submission, draw: Draw) -> None:
    x, shift = draw.normal(4, 5, 3), 100 * draw.normal(4, 1, 3)
    for name in ("softmax", "log_softmax"):
        once, shifted = submission.call(name, x=x, dim=1), submission.call(name, x=x + shift, dim=1)
        close(f"values of {name} after adding a number along dim", shifted, once, FAR[torch.float64])

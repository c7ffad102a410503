"""What is checked of mutual_information."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from graders.kata import (
    HALF,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Submission,
    bans,
    close,
    last_places,
)

UMBRELLA = torch.tensor([[0.2, 0.5], [0.3, 0.0]], dtype=torch.float64)
ELEVENTHS = torch.eye(11, dtype=torch.float64) / 11  # their sum is 0.9995 in float16
SHAPES, LINES = ((5, 7), (4, 4), (3, 8), (6, 2)), ((1, 6), (6, 1), (1, 1))
BASES = (2, 3, 10.0, 0.5, 1.5, math.e)
NO_BASES = (0, 0.0, -1, -2.0, -0.5, 1, 1.0)
NO_GIVEN = ("z", "", "xy", "yx", "x,y", "X", "Y", " x")
NO_TABLES = ((), (6,), (1, 5, 6), (5, 6, 1), (2, 3, 4))


def entropy(p: Tensor) -> Tensor:
    """Its gradient is NaN where p is 0: any finite one is right there."""
    return -torch.xlogy(p, p).sum()


def plain_information(joint: Tensor, base: float | None = None) -> Tensor:
    return (entropy(joint.sum(1)) + entropy(joint.sum(0)) - entropy(joint)) / math.log(base or math.e)


def plain_conditional(joint: Tensor, given: str = "y", base: float | None = None) -> Tensor:
    return (entropy(joint) - entropy(joint.sum("yx".index(given)))) / math.log(base or math.e)


def table(draw: Draw, *shape: int) -> Tensor:
    """Dependent variables, and no tiny probabilities."""
    return draw.normal(*shape, std=2).flatten().softmax(0).view(shape)


def tables(draw: Draw) -> list[Tensor]:
    return [table(draw, *shape) for shape in (*SHAPES, draw.shape(2))]


def zeros(draw: Draw) -> list[Tensor]:
    """Empty cells, rows and columns; all in one cell; x = y; and the statement's table."""
    joint = table(draw, 6, 5)
    joint[1], joint[:, 2], joint[3, 1:], joint[0, 0] = 0, 0, 0, 0
    return [joint / joint.sum(), torch.eye(3)[:, :1] @ torch.eye(4)[2:3], table(draw, 5).diag(), UMBRELLA]


def independent(draw: Draw) -> list[Tensor]:
    products = [table(draw, 5, 1) * table(draw, 1, 7) for _ in range(6)]
    return products + [table(draw, *shape) for shape in LINES]


def tiny(draw: Draw) -> list[Tensor]:
    """Probabilities far below what people add in logarithms; one is alone in its row and its column."""
    joint = table(draw, 5, 6)
    joint[2], joint[:, 3], joint[2, 3], joint[0, 0], joint[1, 1] = 0, 0, 1e-30, 1e-30, 1e-13
    return [joint / joint.sum()]


def below_float32(draw: Draw) -> list[Tensor]:
    joint = table(draw, 5, 6)
    joint[2], joint[2, 3], joint[0, 0] = 0, 1e-60, 1e-100
    return [joint / joint.sum()]


def whichever_is_given(conditional_entropy, joint):
    return conditional_entropy(joint) + conditional_entropy(joint, given="x")


def answer(name: str, signature: str, oracle: Callable[..., Tensor], *options: dict[str, Any]) -> Answer:
    """Each case but the first is asked with each of the options."""

    def asked(made: Callable[[Draw], list[Tensor]], bases: tuple[float, ...] = ()) -> Callable[[Draw], list[Arguments]]:
        every = [option | base for option in options for base in ({}, *({"base": base} for base in bases))]
        return lambda draw: [{"joint": joint} | one for joint in made(draw) for one in every]

    def refused(draw: Draw) -> list[Arguments]:
        bad = [{"base": base} for base in NO_BASES]
        bad += [{"joint": table(draw, *shape)} for shape in NO_TABLES]
        bad += [{"given": given} for given in NO_GIVEN if "given" in signature]
        return [{"joint": table(draw, 5, 7)} | one for one in bad]

    return Answer(
        signature,
        oracle=oracle,
        differentiable=("joint",),
        tolerance=last_places(12, absolute=1),  # differences of entropies
        cases=(
            Case(f"{name}_table", lambda draw: {"joint": table(draw, 5, 7)}),
            Case(f"{name}_shapes_and_bases", asked(tables, BASES)),
            Case(
                f"{name}_independent",
                asked(independent),
                gradients="finite",  # of what is 0 up to rounding, and may be clamped
            ),
            Case(f"{name}_zeros", asked(zeros), category="robustness"),
            Case(f"{name}_tiny", asked(tiny), category="robustness"),
            Case(f"{name}_below_float32", asked(below_float32), category="robustness", dtypes=(torch.float64,)),
            Case(
                f"{name}_in_float16",
                asked(lambda draw: [ELEVENTHS]),
                category="robustness",
                dtypes=(torch.float16,),
                tolerance=last_places(8, absolute=10),  # gradients of 0 are differences of larger ones
            ),
            Case(
                f"{name}_base_near_1",  # which is 1.0078 in bfloat16
                lambda draw: {"joint": table(draw, 5, 7), "base": 1.01},
                category="robustness",
                dtypes=HALF,
                gradients="none",
                tolerance=last_places(20),
            ),
            Case(f"{name}_refused", refused, raises=ValueError),
        ),
        budgets=(
            Budget(
                f"{name}_of_many",
                sizes={"rows": (128, 2048), "columns": (4, 32)},
                inputs=lambda draw, rows, columns: {"joint": table(draw, rows, columns)},
                scenario=whichever_is_given if "given" in signature else None,
                hints={"rows": "sum over axis 0 with one call", "columns": "sum over axis 1 with one call"},
            ),
        ),
    )


GRADER = Grader(
    answers=(
        answer("information", "mutual_information(joint, base=None)", plain_information, {}),
        answer(
            "conditional",
            "conditional_entropy(joint, given='y', base=None)",
            plain_conditional,
            *({}, {"given": "y"}, {"given": "x"}),
        ),
    ),
    banned=bans.DIVERGENCES,
)


def test_information_is_what_the_other_variable_tells(submission: Submission, draw: Draw) -> None:
    """I(x; y) = I(y; x) = H(x) − H(x | y), where H(x) is H(x | y) of a y that is always the same."""
    joint = table(draw, 6, 4)
    information, swapped = (submission.call("mutual_information", joint=one) for one in (joint, joint.T))
    own, rest = (submission.call("conditional_entropy", joint=one) for one in (joint.sum(1, keepdim=True), joint))
    close("I(y; x)", swapped, information, TOLERANCES[torch.float64])
    close("H(x) − H(x | y)", own - rest, information, TOLERANCES[torch.float64])

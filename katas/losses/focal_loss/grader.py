"""What is checked of focal_loss."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, far, last_places

FLOAT64 = (torch.float64,)
REDUCTIONS = ("mean", "sum", "none")
SHAPES = ((), (1,), (6,), (4, 1), (1, 5), (2, 3, 4))
# Most of them would broadcast, or have as many elements.
DIFFERENT = (((5, 1), (5,)), ((5,), (1,)), ((1,), ()), ((5,), ()), ((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (4, 3)))
DIFFERENT += (((3, 4), (12,)), ((3, 4), (2, 4)))
WHOLE = (torch.int64, torch.int32, torch.uint8, torch.bool)


def oracle(logits: Tensor, target: Tensor, alpha: float = 0.25, gamma: float = 2.0, reduction: str = "mean") -> Tensor:
    log_p, log_not_p = F.logsigmoid(logits), F.logsigmoid(-logits)
    positive, negative = -(gamma * log_not_p).exp() * log_p, -(gamma * log_p).exp() * log_not_p
    if alpha >= 0:
        positive, negative = alpha * positive, (1 - alpha) * negative
    losses = torch.where(target == 1, positive, negative)
    return losses if reduction == "none" else {"mean": losses.mean, "sum": losses.sum}[reduction]()


def given(draw: Draw, *shape: int, **options: Any) -> Arguments:
    """A third of the targets is 1."""
    count = torch.Size(shape).numel()
    target = (torch.arange(count) % 3 == 1)[draw.permutation(count)].reshape(shape).double()
    return {"logits": draw.uniform(*shape, low=-5, high=5), "target": target, **options}


def with_each(*options: Arguments) -> Inputs:
    return lambda draw: [given(draw, 5, 7, **one) for one in options]


def each_reduction(**options: Any) -> list[Arguments]:
    return [{"reduction": how, **options} for how in REDUCTIONS]


def at(*sizes: float, wrong: bool = True) -> Inputs:
    """Logits of each size under both targets, on the right side and the wrong one, for several gammas."""

    def inputs(draw: Draw) -> list[Arguments]:
        made = []
        for gamma in (0, 0.5, 1.0, 2.0):
            for options in each_reduction(gamma=gamma) + each_reduction(gamma=gamma, alpha=-1):
                sides = torch.tensor([1.0, -1] if wrong else [1.0]).double()
                logits = torch.outer(sides, torch.tensor(sizes).double()).flatten()
                target = torch.tensor([1.0, 0]).double().repeat_interleave(len(logits))
                logits = torch.cat([logits, -logits])
                order = draw.permutation(len(logits))
                made.append({"logits": logits[order], "target": target[order], **options})
        return made

    return inputs


def far_in_half(draw: Draw) -> list[Arguments]:
    """Not added up, which might not fit float16."""
    numbers = [(x, gamma) for x in far.numbers(draw, 5, 7) for gamma in (2.0, 0.5)]
    return [given(draw, 5, 7, gamma=gamma, reduction="none") | {"logits": x} for x, gamma in numbers]


def of_other_shapes(draw: Draw) -> list[Arguments]:
    both_ways = [*DIFFERENT, *(shapes[::-1] for shapes in DIFFERENT)]
    return [{"logits": draw.normal(*one), "target": draw.integers(*other, high=2).double()} for one, other in both_ways]


def of_each_shape(draw: Draw) -> list[Arguments]:
    made = [given(draw, *shape, **how) for shape in SHAPES for how in each_reduction()]
    numbers = {"alpha": draw.number(0.1, 0.9), "gamma": draw.number(0.5, 3), "reduction": "none"}
    return [*made, *(given(draw, *draw.shape(axes), **numbers) for axes in (2, 3))]


def whole_targets(draw: Draw) -> list[Arguments]:
    """The same targets in each dtype that is not floating, under weights that are no binary fractions, and none."""
    made = [given(draw, 5, 7, **options) for options in ({}, {"alpha": 0.3}, {"alpha": -1, "reduction": "none"})]
    return [{**one, "target": one["target"].to(dtype)} for one in made for dtype in WHOLE]


GRADER = Grader(
    answers=(
        Answer(
            'sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean")',
            oracle=oracle,
            differentiable=("logits",),
            tolerance=last_places(8),  # of which a product of a power and a log needs 4.8
            cases=(
                Case("five_by_seven", with_each({})),
                Case("reductions", with_each(*each_reduction()), half=True),
                Case(
                    "of_each_shape",
                    of_each_shape,
                    dtypes=FLOAT64,
                ),
                Case("whole_targets", whole_targets, core=False),
                Case("alphas", with_each(*({"alpha": alpha} for alpha in (0, 0.0, 0.1, 0.3, 0.6, 1, 1.0)))),
                Case("no_weights", with_each(*({"alpha": alpha} for alpha in (-1, -1.0, -0.25)))),
                Case("gammas", with_each(*({"gamma": gamma} for gamma in (0, 0.0, 0.5, 0.7, 1, 1.5, 3, 8.0)))),
                Case("plain_bce", with_each(*each_reduction(alpha=-1, gamma=0))),
                Case("zero_logits", at(0.0, 1.0), core=False),
                Case("easy_logits", at(6.0, 9.0, 12.0, 15.0, wrong=False), dtypes=FLOAT64, core=False),
                Case("moderate_logits", at(6.5, 10.5, 16.5, 17.5, 18.5, 19.5), dtypes=FLOAT64, core=False),
                Case(
                    "far_logits",
                    at(30.0, 50.0, 100.0, 1000.0),
                    category="robustness",
                    # Made of a cross-entropy of two classes, a right answer has gradients that are off by 1e-4.
                    tolerance={torch.float32: Tolerance(2e-4, 1e-5, 1e-5)},
                ),
                Case("far_logits_in_half", far_in_half, category="robustness", dtypes=HALF),
                Case("other_shapes", of_other_shapes, raises=ValueError),
                Case(
                    "unknown_reduction",
                    with_each(*({"reduction": word} for word in ("average", "means", " mean", "Mean", "NONE", ""))),
                    raises=ValueError,
                ),
            ),
            budgets=(
                Budget(
                    "many_elements",
                    sizes={"elements": (256, 2048)},
                    inputs=lambda draw, elements: given(draw, elements),
                    hints={"elements": "logsigmoid, exp and * take all elements at once"},
                ),
            ),
        ),
    ),
)

"""What is checked of contrastive_loss."""

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import FULL, HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, last_places

# An eps of 1e-6 on each difference, or of 1e-12 under the root, is welcome: it moves a distance by about 1e-6, a loss
# by twice that times the distance or the hinge, and turns the gradient a little.
WITH_EPS = Tolerance(1e-6, 1e-6, 4e-5)
# The last becomes the inputs' dtype.
LABELS = (torch.int64, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.float64)
SHAPES = ((1, 7), (9, 1), (7,), (1, 9, 7), (8, 7), (9, 6), (7, 9))
SHAPES_OF_Y = ((9, 1), (1,), (), (1, 9), (8,), (10,), (9, 7), (7,))


def oracle(x1: Tensor, x2: Tensor, y: Tensor, margin=1.0, reduction="mean") -> Tensor:
    """The definition. The root's gradient at 0 is NaN, which says that anything finite is right there."""
    positive, squares = y.bool(), (x1 - x2).square().sum(1)
    distances = torch.where(positive, 1, squares).sqrt()  # the positive pairs need no root
    losses = torch.where(positive, squares, (margin - distances).clamp_min(0).square())
    return {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]


def pairs(
    draw: Draw,
    positive: int = 4,
    near: int = 3,
    far: int = 2,
    D: int = 7,
    margin: float = 1.0,
    scale: float = 1.0,
    labels: torch.dtype = torch.int64,
    **options: object,
) -> Arguments:
    """Pairs in random order: positive ones of any distance, negative ones within the margin and beyond it."""
    apart = [scale * draw.uniform(positive, low=0.3, high=1.8), margin * draw.uniform(near, low=0.3, high=0.8)]
    distances = torch.cat([*apart, margin + scale * draw.uniform(far, low=0.2, high=0.8)])
    y, order = torch.arange(len(distances)) < positive, draw.permutation(len(distances))
    x1, direction = draw.normal(len(y), D, std=scale), F.normalize(draw.normal(len(y), D), dim=1)
    if margin != 1.0:  # the default is really used
        options["margin"] = margin
    return {"x1": x1, "x2": x1 + distances[order, None] * direction, "y": y[order].to(labels), **options}


def unreduced_too(calls: list[Arguments]) -> list[Arguments]:
    return [*calls, *(arguments | {"reduction": "none"} for arguments in calls)]


def every_option(draw: Draw) -> list[Arguments]:
    asked = [(margin, reduction) for margin in (1.0, 0.3) for reduction in ("mean", "sum", "none")]
    return [pairs(draw, D=5, margin=margin, reduction=reduction) for margin, reduction in asked]


def margins(draw: Draw) -> list[Arguments]:
    made = [pairs(draw, near=3 * (margin > 0), D=4, margin=margin) for margin in (0, 0.05, 3, 20.0)]
    return unreduced_too([*made, pairs(draw, *draw.shape(4), margin=draw.number(0.2, 2))])


def one_kind(draw: Draw) -> list[Arguments]:
    """All pairs positive, all within the margin, or all beyond it: then the loss and its gradient are 0."""
    return unreduced_too([pairs(draw, *counts) for counts in ((6, 0, 0), (0, 6, 0), (0, 0, 6))])


def small_sizes(draw: Draw) -> list[Arguments]:
    """One pair, one feature, and as many of the one as of the other."""
    asked = ((1, 0, 0, 3), (0, 1, 0, 3), (1, 1, 1, 3), (1, 0, 0, 1), (0, 1, 0, 1), (2, 2, 1, 1))
    return unreduced_too([pairs(draw, *counts) for counts in asked])


def close_together(draw: Draw) -> list[Arguments]:
    """Distances of 6e-5 to 0.006: what takes them for 0, or adds to them, shows."""
    made = pairs(draw, 3, 5, 0, reduction="none")
    near = F.normalize(draw.normal(8, 7), dim=1) * torch.logspace(-4.2, -2.2, 8)[:, None].double()
    return [made | {"x2": made["x1"] + near, "margin": margin} for margin in (0.05, 1.0, 2.0)]


def equal_vectors(draw: Draw) -> list[Arguments]:
    """In some pairs of both kinds, or in all."""
    calls = []
    for labels, margin in ((torch.int64, 1.0), (torch.float64, 3.0)):
        made = pairs(draw, labels=labels, margin=margin, reduction="none")
        x2 = made["x2"].clone()
        for kind in (0, 1):
            rows = (made["y"] == kind).nonzero()[:2, 0]
            x2[rows] = made["x1"][rows]
        calls += [made | {"x2": x2}, made | {"x2": made["x1"].clone()}]
    return [*calls, calls[0] | {"reduction": "mean"}, calls[0] | {"margin": 0}]


def far_from_the_origin(draw: Draw) -> Arguments:
    """‖a‖² + ‖b‖² − 2⟨a, b⟩ would cancel here."""
    made = pairs(draw, reduction="none")
    return made | {name: made[name] + 300.0 for name in ("x1", "x2")}


def long_distances(draw: Draw) -> list[Arguments]:
    """Up to 198, then negative pairs at 165 to 195: float16 holds neither 2 · d², nor a sum of 20 losses."""
    made = [pairs(draw, scale=110, margin=110, labels=one, reduction="none") for one in LABELS]
    made += [pairs(draw, scale=50, margin=155, reduction="none") | {"margin": 200}]
    return [*made, pairs(draw, 20, scale=80, margin=120)]


def instead(name: str, *values: object) -> Inputs:
    """The usual arguments but for one; tuples stand for tensors of that shape."""

    def inputs(draw: Draw) -> list[Arguments]:
        drawn = [draw.uniform(*value).round() if isinstance(value, tuple) else value for value in values]
        return [pairs(draw) | {name: value} for value in drawn]

    return inputs


def many_pairs(draw: Draw, pairs: int, features: int) -> Arguments:
    return {name: draw.normal(pairs, features, std=0.1) for name in ("x1", "x2")} | {"y": draw.integers(pairs, high=2)}


GRADER = Grader(
    answers=(
        Answer(
            'contrastive_loss(x1, x2, y, margin=1.0, reduction="mean")',
            oracle=oracle,
            differentiable=("x1", "x2"),
            tolerance={torch.float64: WITH_EPS, torch.float32: Tolerance(1e-5, 1e-5, 4e-5)},
            budgets=(
                Budget(
                    "many_pairs",
                    sizes={"pairs": (128, 2048), "features": (8, 64)},
                    inputs=many_pairs,
                    asks=("loops", "memory", "time"),
                    hints={"pairs": "take the distances of all rows at once: sum over the features alone"},
                ),
            ),
            cases=(
                Case("nine_by_seven", pairs),
                Case("every_option", every_option),
                Case(
                    "every_label",
                    lambda draw: unreduced_too([pairs(draw, labels=labels) for labels in LABELS]),
                    core=False,
                ),
                Case("margins", margins),
                Case("one_kind", one_kind),
                Case("small_sizes", small_sizes),
                Case("large_batch", lambda draw: pairs(draw, 30, 20, 14, D=128)),
                # So large that no eps matters, and float32 would, be it only in the margin.
                Case(
                    "double_precision",
                    lambda draw: pairs(draw, scale=1e5, margin=200_000.3, reduction="none"),
                    dtypes=(torch.float64,),
                    tolerance={torch.float64: Tolerance(1e-9, 1e-9, 1e-12)},
                    core=False,
                ),
                # An eps is welcome in the value here, and may turn the gradient by more than rounding does.
                Case("close_together", close_together, gradients="finite", core=False),
                Case("equal_vectors", equal_vectors, category="robustness", dtypes=(*FULL, torch.bfloat16)),
                Case("far_from_the_origin", far_from_the_origin, category="robustness"),
                Case(
                    "long_distances_in_half",
                    long_distances,
                    category="robustness",
                    dtypes=HALF,
                    tolerance=last_places(6),
                ),
                Case("negative_margin", instead("margin", -0.5, -1e-3, -2), raises=ValueError),
                Case(
                    "unknown_reduction",
                    instead("reduction", "average", "Mean", "max", "", " mean", "means"),
                    raises=ValueError,
                ),
                Case("x1_of_another_shape", instead("x1", *SHAPES), raises=ValueError),
                Case("x2_of_another_shape", instead("x2", *SHAPES), raises=ValueError),
                Case("y_of_another_shape", instead("y", *SHAPES_OF_Y), raises=ValueError),
            ),
        ),
    ),
)

"""What is checked of triplet_loss."""

import functools

import pytest
import torch
import torch.nn.functional as F
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
    Inputs,
    Submission,
    Tolerance,
    close,
    last_places,
    same_shape,
)

NAMES = ("anchor", "positive", "negative")
DISTANCES = ("euclidean", "cosine")
REDUCTIONS = ("mean", "sum", "none")

# An eps of 1e-6 on each difference, or of 1e-8 under the root, is welcome: it moves a distance by about 1e-6, and a
# sum of several by a few times that.
WITH_EPS = Tolerance(1e-6, 1e-6, 2e-5)
# Under the root it moves a distance of exactly 0 to 1e-4.
WITH_EPS_AT_ZERO = Tolerance(1e-4, 1e-5, 1.2e-4)
# Beside the square of a length of 0.01 it counts as well, but less than 1e-6 beside the product of two lengths.
SHORT_WITH_EPS = Tolerance(2e-4, 2e-4, 2e-4)


def oracle(anchor: Tensor, positive: Tensor, negative: Tensor, margin=1.0, distance="euclidean", reduction="mean"):
    """The definition. The root's gradient at 0 is NaN, which says that anything finite is right there."""

    def between(x: Tensor, y: Tensor) -> Tensor:
        if distance == "euclidean":
            return (x - y).square().sum(1).sqrt()
        return 1 - (x * y).sum(1) / (x.square().sum(1) * y.square().sum(1)).sqrt()

    losses = (between(anchor, positive) - between(anchor, negative) + margin).clamp_min(0)
    return {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]


def triplets(
    draw: Draw,
    active: int,
    satisfied: int,
    D: int = 7,
    margin: float = 1.0,
    distance: str = "euclidean",
    scale: float = 1.0,
    lined_up: bool = False,
    **options: object,
) -> Arguments:
    """Triplets whose hinges are far from their kink, in random order.

    Args:
        active, satisfied: how many with a positive loss, and how many with none.
        scale: of the distances, and so of the hinges; of the lengths of the vectors for the cosine.
        lined_up: the negative lies in the same direction from the anchor as the positive.
    """
    N = active + satisfied
    signs = torch.tensor([1.0] * active + [-1.0] * satisfied, dtype=torch.float64)[draw.permutation(N)]
    there, apart = draw.normal(N, D), draw.normal(N, D)
    aside = there if lined_up else apart
    if distance == "euclidean":
        to_positive = scale * draw.uniform(N, low=1.5, high=2.5)
        to_negative = to_positive + margin - scale * signs * draw.uniform(N, low=0.25, high=0.75)
        anchor = draw.normal(N, D, std=scale)
        positive = anchor + to_positive[:, None] * F.normalize(there, dim=1)
        negative = anchor + to_negative[:, None] * F.normalize(aside, dim=1)
    else:
        to_positive = draw.uniform(N, low=0.4, high=0.6)
        to_negative = to_positive + margin - signs * draw.uniform(N, low=0.15, high=0.35)
        unit = F.normalize(draw.normal(N, D), dim=1)
        lengths = scale * draw.uniform(3, N, 1, low=0.5, high=3.0)
        anchor = unit * lengths[0]
        positive = turned(unit, there, to_positive) * lengths[1]
        negative = turned(unit, aside, to_negative) * lengths[2]
    chosen = {"margin": margin, "distance": distance, **options}
    usual = {"margin": 1.0, "distance": "euclidean"}
    asked = {name: value for name, value in chosen.items() if usual.get(name) != value}  # defaults are really used
    return {"anchor": anchor, "positive": positive, "negative": negative, **asked}


def turned(unit: Tensor, towards: Tensor, distance: Tensor) -> Tensor:
    """Unit vectors at a given cosine distance from `unit`."""
    across = F.normalize(towards - (towards * unit).sum(1, keepdim=True) * unit, dim=1)
    cosine = (1 - distance)[:, None]
    return cosine * unit + (1 - cosine.square()).clamp_min(0).sqrt() * across


def any_triplets(draw: Draw, triplets: int, features: int, distance: str) -> Arguments:
    return {name: draw.normal(triplets, features) for name in NAMES} | {"distance": distance}


def every_option(draw: Draw) -> list[Arguments]:
    return [
        triplets(draw, 4, 2, distance=distance, reduction=reduction, D=5, margin=margin)
        for distance in DISTANCES
        for margin in (1.0, 0.3)
        for reduction in REDUCTIONS
    ]


def margins(draw: Draw) -> list[Arguments]:
    euclidean = [triplets(draw, 3, 2, D=4, margin=margin) for margin in (0, 0.01, 0.5, 3, 20.0)]
    cosine = [triplets(draw, 3, 2, D=4, margin=margin, distance="cosine") for margin in (0, 0.05, 0.5)]
    active, satisfied, D = draw.shape(3)
    drawn = [triplets(draw, active, satisfied, D, draw.number(0.1, 0.5), distance) for distance in DISTANCES]
    by_row = [made | {"reduction": "none"} for made in (euclidean[0], euclidean[3], cosine[0])]
    return [*euclidean, *cosine, *by_row, *drawn]


def sizes_of_one(draw: Draw) -> list[Arguments]:
    one = [triplets(draw, 1, 0, D=3, distance=distance) for distance in DISTANCES]
    ends = {name: 2 * draw.normal(5, 1).sign() for name in NAMES} | {"distance": "cosine"}  # it is 0 or 2 here
    return [*one, triplets(draw, 1, 0, D=1), triplets(draw, 3, 2, D=1), ends, one[0] | {"reduction": "none"}]


def one_sided(draw: Draw) -> list[Arguments]:
    """Every hinge open, or every one shut: then the loss and its gradient are 0."""
    made = [triplets(draw, *counts, distance=d) for counts in ((6, 0), (0, 6)) for d in DISTANCES]
    return [*made, *(arguments | {"reduction": "none"} for arguments in made)]


def lined_up(draw: Draw) -> list[Arguments]:
    """Positive and negative are closer to one another than either is to the anchor."""
    return [
        triplets(draw, 3, 3, lined_up=True, distance=distance, margin=margin, reduction="none")
        for distance, margin in (("euclidean", 0.5), ("cosine", 0.3))
    ]


def double_precision(draw: Draw) -> list[Arguments]:
    """So large that no eps matters, and float32 would, be it only in the margin."""
    euclidean = triplets(draw, 4, 2, scale=1e5, margin=20_000.3, reduction="none")
    cosine = triplets(draw, 4, 2, distance="cosine", scale=1e4, margin=0.7, reduction="none")
    unit, distances = F.normalize(cosine["anchor"], dim=1), draw.uniform(6, low=1e-8, high=2e-8)
    near = 1e4 * turned(unit, draw.normal(6, 7), distances)
    return [euclidean, cosine, cosine | {"positive": near, "margin": 2}]


def close_together(draw: Draw) -> Arguments:
    """Distances of about 0.005 and 0.02: an eps of 1e-6 under the root would show."""
    anchor = draw.normal(6, 7)
    near, far = (F.normalize(draw.normal(6, 7), dim=1) for _ in range(2))
    return {
        "anchor": anchor,
        "positive": anchor + near * draw.uniform(6, 1, low=0.004, high=0.006),
        "negative": anchor + far * draw.uniform(6, 1, low=0.018, high=0.022),
        "margin": 0.05,
        "reduction": "none",
    }


def coinciding(draw: Draw) -> list[Arguments]:
    """Anchor equals positive, in open hinges and shut ones; anchor equals negative; all three are one."""
    calls = []
    for distance, far in (("euclidean", 1.5), ("cosine", 1.4)):
        made = triplets(draw, 4, 4, distance=distance)
        anchor, positive, negative = made["anchor"], made["positive"], made["negative"]
        positive[:2] = anchor[:2]
        negative[1] = anchor[1]
        positive[2] = anchor[2]
        if distance == "euclidean":
            negative[0] = anchor[0] + far * F.normalize(draw.normal(7), dim=0)  # satisfied
            negative[2] = anchor[2] + (far - 1) * F.normalize(draw.normal(7), dim=0)
        else:
            units = F.normalize(anchor, dim=1)
            negative[:3:2] = turned(units[:3:2], draw.normal(2, 7), torch.tensor([far, far - 1], dtype=torch.float64))
        negative[3] = anchor[3]
        calls += [made, made | {"reduction": "none"}]
    return calls


def far_from_the_origin(draw: Draw) -> Arguments:
    """‖a‖² + ‖b‖² − 2⟨a, b⟩ would cancel here."""
    made = triplets(draw, 4, 2, reduction="none")
    return made | {name: made[name] + 300.0 for name in NAMES}


def with_shapes(which: str) -> Inputs:
    """One of the three has another shape than (5, 7); the first four would broadcast, the last has as many elements."""

    def inputs(draw: Draw) -> list[Arguments]:
        shapes = ((1, 7), (5, 1), (7,), (1, 5, 7), (4, 7), (5, 6), (7, 5))
        calls = [{name: draw.normal(*(shape if name == which else (5, 7))) for name in NAMES} for shape in shapes]
        return [call | {"distance": distance} for call in calls for distance in DISTANCES]

    return inputs


def with_options(name: str, *values: object) -> Inputs:
    return lambda draw: [triplets(draw, 3, 2) | {name: value} for value in values]


def negative_margins(draw: Draw) -> list[Arguments]:
    made = [triplets(draw, 3, 2, distance=distance) for distance in DISTANCES]
    return [arguments | {"margin": margin} for arguments in made for margin in (-0.5, -1e-3)]


GRADER = Grader(
    answers=(
        Answer(
            'triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean")',
            oracle=oracle,
            differentiable=("anchor", "positive", "negative"),
            tolerance={torch.float64: WITH_EPS, torch.float32: Tolerance(1e-5, 1e-5, 4e-5)},
            budgets=tuple(
                Budget(
                    f"many_triplets_{distance}",
                    sizes={"triplets": (triplets // 16, triplets), "features": (features // 4, features)},
                    inputs=functools.partial(any_triplets, distance=distance),
                    asks=("loops", "memory", "time"),
                    hints={"triplets": "take the distances of all rows at once: sum over the features alone"},
                )
                # Few enough that all pairs fit into memory, with their features under the Euclidean distance.
                for distance, triplets, features in (("euclidean", 1536, 32), ("cosine", 2048, 16))
            ),
            cases=(
                Case("six_by_seven", lambda draw: triplets(draw, 4, 2)),
                Case("every_option", every_option),
                Case("margins", margins),
                Case("sizes_of_one", sizes_of_one),
                Case("one_sided", one_sided),
                Case("lined_up", lined_up),
                Case(
                    "large_batch",
                    lambda draw: [triplets(draw, 40, 24, D=128, distance=distance) for distance in DISTANCES],
                ),
                Case(
                    "double_precision",
                    double_precision,
                    dtypes=(torch.float64,),
                    tolerance={torch.float64: Tolerance(1e-9, 1e-9, 1e-12)},
                    core=False,
                ),
                # An eps is welcome in the value here, and may turn the gradient by more than rounding does.
                Case("close_together", close_together, gradients="finite", core=False),
                Case(
                    "coinciding",
                    coinciding,
                    category="robustness",
                    dtypes=(*FULL, torch.bfloat16),
                    tolerance={**dict.fromkeys(FULL, WITH_EPS_AT_ZERO), **last_places(8, absolute=4)},
                ),
                Case("far_from_the_origin", far_from_the_origin, category="robustness"),
                Case(
                    "cosine_in_half",
                    lambda draw: [
                        triplets(draw, 4, 2, distance="cosine", reduction=reduction) for reduction in REDUCTIONS
                    ],
                    category="robustness",
                    dtypes=HALF,
                    tolerance=last_places(4, absolute=3),  # a cosine is rounded as 1 is
                ),
                Case("negative_margin", negative_margins, raises=ValueError),
                Case(
                    "unknown_distance",
                    with_options("distance", "manhattan", "", "cos", "Euclidean", "l2", "eucl"),
                    raises=ValueError,
                ),
                Case(
                    "unknown_reduction",
                    with_options("reduction", "average", "Mean", "", "me", "ean"),
                    raises=ValueError,
                ),
                *[
                    Case(f"{name}_of_another_shape", with_shapes(name), raises=ValueError)
                    for name in ("positive", "negative", "anchor")
                ],
            ),
        ),
    ),
    banned=(
        *("triplet_margin", "pairwise_distance", "cdist", "pdist", "euclidean_dist"),
        *("cosine_similarity", "cosine_embedding_loss"),
    ),
)


def test_permuting_the_triplets_permutes_the_losses(submission: Submission, draw: Draw) -> None:
    for distance in DISTANCES:
        made = triplets(draw, 4, 3, distance=distance, reduction="none")
        order = draw.permutation(7)
        once = submission.call("triplet_loss", **made)
        same_shape("the output", once, torch.empty(7))
        moved: Arguments = made | {name: made[name][order] for name in NAMES}
        close("values after permuting the triplets", submission.call("triplet_loss", **moved), once[order], WITH_EPS)


def test_moving_all_points_changes_no_euclidean_loss(submission: Submission, draw: Draw) -> None:
    made = triplets(draw, 4, 2, reduction="none")
    by = draw.normal(7, std=5.0)
    once = submission.call("triplet_loss", **made)
    moved: Arguments = made | {name: made[name] + by for name in NAMES}
    close("values after adding one vector to all points", submission.call("triplet_loss", **moved), once, WITH_EPS)


@pytest.mark.robustness
def test_lengths_change_no_cosine_loss(submission: Submission, draw: Draw) -> None:
    made = triplets(draw, 4, 2, distance="cosine", reduction="none")
    once = submission.call("triplet_loss", **made)
    for factors, tolerance in (((300.0, 7.0, 0.5), WITH_EPS), ((0.01, 0.01, 0.01), SHORT_WITH_EPS)):
        scaled = made | {name: made[name] * factor for name, factor in zip(NAMES, factors, strict=True)}
        got = submission.call("triplet_loss", **scaled)
        close(f"values after scaling {', '.join(NAMES)} by {factors}", got, once, tolerance)

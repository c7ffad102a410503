"""What is checked of cosine_similarity."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.kata import (
    FULL,
    TOLERANCES,
    Answer,
    Arguments,
    Budget,
    Case,
    Draw,
    Grader,
    Inputs,
    Submission,
    bans,
    close,
    last_places,
)


def pair(*shape: int, std: float = 1.0, **options: object) -> Inputs:
    return lambda draw: {"x": draw.normal(*shape, std=std), "y": draw.normal(*shape, std=std), **options}


def along(*asked: tuple[tuple[int, ...], int]) -> Inputs:
    """Pairs of each shape, along its `dim`."""
    return lambda draw: [pair(*shape, dim=dim)(draw) for shape, dim in asked]


def every_dim(draw: Draw) -> list[Arguments]:
    asked = [((3, 4, 5), dim) for dim in (0, 1, 2, -1, -2, -3)] + [((2, 3, 4, 5), 2), ((2, 3, 1, 2, 3), -2)]
    asked += [(draw.shape(axes), draw.size(0, axes - 1)) for axes in (2, 3)] + [(draw.shape(5, most=7), 3)]
    return along(*asked)(draw)


def along_both_axes(cosine_similarity, x, y):
    return {"along the last axis": cosine_similarity(x, y), "along the first": cosine_similarity(x.mT, y.mT, 0)}


def broadcast_shapes(draw: Draw) -> list[Arguments]:
    """`dim` counts in the broadcast shape, which may have more axes than either input, and may be longer there.

    A number that is repeated along `dim` has a gradient of zero, which rounding misses by as much as it is small.
    """
    shapes = [((5, 7), (7,), -1), ((7,), (5, 7), 1), ((4, 1, 6), (3, 6), 2), ((3, 6), (4, 1, 6), -1)]
    shapes += [((5, 1), (5, 7), 0), ((3, 1), (3, 5), -1), ((3, 5), (3, 1), 1), ((1, 4), (3, 4), 0), ((3, 4), (4,), -2)]
    shapes += [((5, 7), (), -1), ((4, 1), (4, 1), -1)]  # of one number each, whose gradient is zero as well

    def beyond_one(*shape: int) -> Tensor:
        values = draw.normal(*shape)
        return values + values.sign()

    return [{"x": beyond_one(*a), "y": beyond_one(*b), "dim": dim} for a, b, dim in shapes]


def known_angles(draw: Draw) -> Arguments:
    x = draw.normal(1, 6).expand(4, 6)
    across = x[0].roll(3) * torch.tensor([1.0, 1, 1, -1, -1, -1])  # orthogonal to x
    return {"x": x.clone(), "y": torch.stack([x[0], -x[1], across, 2 * x[3] + across])}


def tiny_vectors(draw: Draw) -> Arguments:
    """Norms of about 1e-5, far above eps; two equal ones among them."""
    x = draw.normal(9, 6, std=4e-6)
    return {"x": x, "y": torch.cat([x[:1], draw.normal(8, 6, std=4e-6)])}


def norms_around(eps: float, factors: list[float]) -> Inputs:
    """Pairs of vectors whose norms are eps times each pair of factors."""

    def inputs(draw: Draw) -> Arguments:
        lengths = eps * torch.tensor(factors, dtype=torch.float64)
        x, y = (F.normalize(draw.normal(len(factors), 5), dim=-1) for _ in range(2))
        grid = torch.cartesian_prod(torch.arange(len(factors)), torch.arange(len(factors)))
        vectors = {"x": (x * lengths[:, None])[grid[:, 0]], "y": (y * lengths[:, None])[grid[:, 1]]}
        return vectors if eps == 1e-8 else vectors | {"eps": eps}  # the default is really used

    return inputs


def zero_vectors(draw: Draw) -> list[Arguments]:
    """Among others, then as all of x."""
    x, y = draw.normal(4, 6), draw.normal(4, 6)
    x[0], y[1], x[2], y[2] = 0, 0, 0, 0
    return [{"x": x, "y": y}, {"x": 0 * x, "y": y}]


def long_vectors(draw: Draw) -> list[Arguments]:
    """Nearly parallel, so that their dot product is as large as their squares. Then too short for their squares."""
    x = draw.normal(3, 64, std=60.0)
    return [{"x": x, "y": x + draw.normal(3, 64, std=6.0)}, pair(3, 64, std=6e-5)(draw)]


GRADER = Grader(
    answers=(
        Answer(
            "cosine_similarity(x, y, dim=-1, eps=1e-8)",
            oracle=lambda x, y, dim=-1, eps=1e-8: F.cosine_similarity(x, y, dim, eps),
            tolerance=last_places(6),  # of which ‖x + y‖² − ‖x − y‖² needs 3.8
            differentiable=("x", "y"),
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (128, 2048), "features": (8, 32)},
                    inputs=lambda draw, rows, features: pair(rows, features)(draw),
                    scenario=along_both_axes,
                    asks=("loops", "memory", "time"),
                    hints={
                        "rows": "sum over the axis `dim` alone",
                        "features": "sum over the axis `dim` with one call",
                    },
                ),
            ),
            cases=(
                Case("five_by_seven", pair(5, 7)),
                Case("every_dim", every_dim),
                Case("broadcast", broadcast_shapes),
                Case("one_vector", pair(7)),
                # They stay, whatever is squeezed.
                Case("axes_of_length_one", along(((1, 7), -1), ((2, 1, 5), 2), ((4, 1), 0), ((1, 1, 6), -1))),
                Case("known_angles", known_angles),
                Case("large_batch", pair(64, 128)),
                Case("far_from_one", pair(6, 9, std=300.0, eps=1e-3), category="robustness"),
                Case(
                    "tiny_vectors",
                    tiny_vectors,
                    category="robustness",
                    dtypes=(*FULL, torch.bfloat16),
                    tolerance=last_places(12),  # the gradients of equal vectors cancel
                ),
                Case("above_eps", lambda draw: norms_around(draw.number(0.1, 0.9), [1.5, 4.0, 30.0])(draw)),
                Case("around_eps", norms_around(0.5, [0.2, 0.9, 3.0]), gradients="none"),
                Case(
                    "below_default_eps", norms_around(1e-8, [0.01, 0.5, 20.0]), gradients="none", category="robustness"
                ),
                Case(
                    "zero_vectors",
                    zero_vectors,
                    gradients="finite",
                    category="robustness",
                    dtypes=(*FULL, torch.bfloat16),
                    tolerance=last_places(4, absolute=2),  # small cosines are rounded as 1 is
                ),
                # The product of their squares does not fit float32.
                Case("both_long", pair(4, 6, std=1e10), dtypes=(torch.float32,), category="robustness"),
                # The norms are about 500, the sums of squares about 250 000: beyond the 65 504 of float16.
                # Then the norms are about 5e-4, below its eps of 1e-3, and the squares are 0 in it.
                Case("norm_fits_float16", long_vectors, category="robustness", dtypes=(torch.float16,)),
            ),
        ),
    ),
    banned=bans.UNIT_LENGTH,
)


def test_scaling_changes_nothing(submission: Submission, draw: Draw) -> None:
    x, y = draw.normal(5, 7), draw.normal(5, 7)
    once = submission.call("cosine_similarity", x=x, y=y)
    scaled = submission.call("cosine_similarity", x=x * 3e4, y=y * 2e-4)
    close("values after scaling x by 3e4 and y by 2e-4", scaled, once, TOLERANCES[torch.float64])


@pytest.mark.robustness
def test_swapping_changes_nothing(submission: Submission, draw: Draw) -> None:
    x, y = draw.normal(5, 7), draw.normal(5, 7)
    one = submission.call("cosine_similarity", x=x, y=y)
    other = submission.call("cosine_similarity", x=y, y=x)
    close("values after swapping x and y", other, one, TOLERANCES[torch.float64])

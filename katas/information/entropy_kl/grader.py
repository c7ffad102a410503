"""What is checked of entropy_kl."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata import TOLERANCES, Answer, Arguments, Budget, Case, Draw, Grader, Submission, bans, close, last_places

Pair = tuple[Tensor, Tensor]
BASES = (2, 3, 10.0, 0.5, 1.001, math.e)
NO_BASES = (0, 0.0, -1, -2.0, -0.5, 1, 1.0)
SHAPES = (
    *(((3, 4, 5), dim) for dim in (0, 1, 2, -1, -2, -3)),
    *[((7,), 0), ((7,), -1), ((2, 3, 4, 5), 1), ((1, 6), -1), ((1, 6), 0), ((2, 1, 5), 2), ((4, 1), 1)],
)


def plain_entropy(p: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    """Its gradient is NaN where p is 0: any finite one is right there."""
    return -torch.xlogy(p, p).sum(dim) / math.log(base or math.e)


def plain_cross_entropy(p: Tensor, q: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    """Both gradients are NaN where p and q are 0."""
    divisor = torch.where((p == 0) & (q == 0), p * q, q)
    return -torch.xlogy(p, divisor).sum(dim) / math.log(base or math.e)


def plain_kl(p: Tensor, q: Tensor, dim: int = -1, base: float | None = None) -> Tensor:
    return plain_cross_entropy(p, q, dim, base) - plain_entropy(p, dim, base)


def two(draw: Draw, *shape: int, dim: int = -1) -> Pair:
    """Two distributions along `dim`, with no tiny probabilities."""
    return draw.normal(*shape).softmax(dim), draw.normal(*shape).softmax(dim)


def nearly_equal(draw: Draw, *shape: int) -> Pair:
    """KL is 0 but for rounding, to either side, and its gradients are not."""
    p, _ = two(draw, *shape)
    return p, p * (1 + 1e-9 * draw.normal(*shape))


def normalised(p: Tensor, q: Tensor) -> Pair:
    return p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)


def zeros(draw: Draw) -> Pair:
    """Zeros in p alone, and in both; the last row of p is one-hot."""
    p, q = two(draw, 6, 5)
    p[0, 1], p[1, 2], q[1, 2], p[2, :3], q[2, 1:3], p[5] = 0, 0, 0, 0, 0, torch.eye(5)[3]
    return normalised(p, q)


def impossible(draw: Draw) -> Pair:
    """q is 0 where p is not, in some of the rows; one of them is certain of it."""
    p, q = two(draw, 5, 4)
    p[2], q[2, 1], q[1, 2], q[3, 1:], p[3, 2], p[4, 0] = torch.eye(4)[1], 0, 0, 0, 0, 0
    return normalised(p, q)


def tiny(draw: Draw) -> Pair:
    """Probabilities far below what people add to keep a logarithm finite; in float32, 1e-100 is 0."""
    p, q = two(draw, 4, 6)
    p[:, 5] = q[:, 5] = 1e-100
    p[:, 1], p[:, 4], q[:, 2], q[:, 4] = 1e-30, 1e-13, 1e-15, 1e-11
    return normalised(p, q)


def tiny_in_float16(draw: Draw) -> Pair:
    """p / q is 500 000 or more there: beyond the 65 504 of float16, which holds q itself."""
    p, q = two(draw, 4, 6)
    p[:, 2], q[:, 2] = 1, 1e-6
    return normalised(p, q)


def given(names: str, made: Callable[..., Pair], *shape: int, **options: Any) -> Callable[[Draw], Arguments]:
    """`names` are "p" or "pq"."""
    return lambda draw: dict(zip(names, made(draw, *shape), strict=False)) | options


def answer(name: str, names: str, oracle: Callable[..., Tensor], *more: Case) -> Answer:
    def every(*calls: Callable[[Draw], Arguments]) -> Callable[[Draw], list[Arguments]]:
        return lambda draw: [call(draw) for call in calls]

    along = [given(names, partial(two, dim=dim), *shape, dim=dim) for shape, dim in SHAPES]
    good, bad = ([given(names, two, 5, 7, base=base) for base in bases] for bases in (BASES, NO_BASES))

    def any_size(draw: Draw) -> Arguments:
        return given(names, two, *draw.shape(4, 3, 12), base=draw.number(1.5, 9))(draw)

    extremes = every(given(names, zeros), given(names, tiny))
    return Answer(
        f"{name}({', '.join(names)}, dim=-1, base=None)",
        oracle=oracle,
        differentiable=tuple(names),
        # A divergence may be the difference of two entropies of 1 to 3, each off by some units in its last place.
        tolerance=last_places(4, absolute=4) if name == "kl_divergence" else {},
        cases=(
            Case(f"{name}_rows", every(given(names, two, 5, 7), given(names, nearly_equal, 9, 7))),
            Case(f"{name}_dims_and_bases", every(*along, *good, any_size)),
            Case(f"{name}_zeros_and_tiny", extremes, category="robustness"),
            Case(f"{name}_bad_base", every(*bad), raises=ValueError),
            *more,
        ),
        budgets=(
            Budget(
                f"{name.removesuffix('_of')}_of_many",
                sizes={"rows": (32, 512), "outcomes": (12, 400)},
                inputs=lambda draw, rows, outcomes: given(names, two, rows, outcomes)(draw),
                written=12,  # on a GPU the indices of p[p > 0] are written each time: 9.4 in alternatives/scatter.py
                hints={"rows": "sum over the axis `dim` alone", "outcomes": "sum over the axis `dim` with one call"},
            ),
        ),
    )


def extreme(name: str, made: Callable[[Draw], Pair], **options: Any) -> Case:
    calls = given("pq", made), given("pq", made, base=0.5)
    return Case(name, lambda draw: [call(draw) for call in calls], gradients="none", category="robustness", **options)


GRADER = Grader(
    answers=(
        answer("entropy", "p", plain_entropy),
        answer(
            "cross_entropy_of",
            "pq",
            plain_cross_entropy,
            extreme("cross_entropy_of_the_impossible", impossible),
            extreme("cross_entropy_of_float16", tiny_in_float16, dtypes=(torch.float16,)),
        ),
        answer(
            "kl_divergence",
            "pq",
            plain_kl,
            extreme("kl_divergence_of_the_impossible", impossible),
            extreme("kl_divergence_in_float16", tiny_in_float16, dtypes=(torch.float16,)),
        ),
    ),
    banned=bans.DIVERGENCES,
)


def test_divergence_is_what_cross_entropy_adds(submission: Submission, draw: Draw) -> None:
    p, q = two(draw, 200, 3)
    divergence = submission.call("kl_divergence", p=p, q=q)
    assert divergence.min() > -1e-12, f"KL(p ‖ q): should not be negative, got {divergence.min()}"
    parts, whole = submission.call("entropy", p=p) + divergence, submission.call("cross_entropy_of", p=p, q=q)
    close("H(p) + KL(p ‖ q)", parts, whole, TOLERANCES[torch.float64])
    close("KL(p ‖ p)", submission.call("kl_divergence", p=p, q=p), torch.zeros(200), TOLERANCES[torch.float64])

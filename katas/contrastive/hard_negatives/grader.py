"""What is checked of hard_negatives."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from graders.kata import HALF, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, two_views

Make = Callable[[Draw, int, int], Tensor]
views, mirrored = two_views.views, two_views.mirrored


def oracle(features: Tensor, temperature: float = 0.1, top_k: int = 10) -> Tensor:
    """The definition."""
    logits = two_views.cosines(features) / temperature
    positive, negatives = two_views.positives(logits), two_views.negatives(logits)
    candidates = torch.cat([positive[:, None], negatives.sort(dim=1, descending=True).values[:, :top_k]], 1)
    return (candidates.logsumexp(1) - positive).mean()


def spread(draw: Draw, N: int, D: int) -> Tensor:
    """All cosines are negative, about −1/(2N − 1), so that all logits are far below 0 at small temperatures."""
    return torch.eye(2 * N, dtype=torch.float64) - 0.5 / N + draw.normal(2 * N, 2 * N, std=0.02)


def least_step(features: Tensor, k: int) -> float:
    """By how much the k-th and the (k + 1)-th most similar negatives of an anchor differ at least."""
    negatives = two_views.negatives(two_views.cosines(features))
    return -negatives.topk(k + 1).values.diff()[:, -1].max().item() if k < negatives.shape[1] else math.inf


def clear(
    draw: Draw, k: int, temperature: float = 0.4, make: Make = views, N: int = 4, D: int = 5, step: float = 1e-3
) -> Arguments:
    """Features drawn until rounding cannot change which k negatives are the hardest."""
    features = make(draw, N, D)
    while least_step(features, k) < step:
        features = make(draw, N, D)
    return {"features": features, "temperature": temperature, "top_k": k}


def sizes(draw: Draw) -> list[Arguments]:
    """With one feature the cosines are ±1: every gradient is 0, whichever equal negatives are taken."""
    one = two_views.one_feature(draw)
    several = [clear(draw, k, N=N, D=D) for N, D, k in ((2, 3, 1), (3, 6, 2), (5, 10, 4), (7, 2, 3))]
    made = [*({"features": one, "top_k": k} for k in (1, 3)), *several, clear(draw, 17, N=24, D=33, step=1e-4)]
    N, D, k = draw.size(8, 16), draw.size(4, 16), draw.size(2, 12)
    return [*made, clear(draw, k, draw.number(0.2, 2), N=N, D=D, step=1e-4)]


def one_pair(draw: Draw) -> list[Arguments]:
    """There is no negative, so the loss is 0, even where the positive is as far off as can be."""
    pairs = [draw.normal(2, 5), draw.uniform(2, 1, low=0.5, high=2.0), mirrored(draw.normal(1, 5))]
    return [{"features": pair, "temperature": t, "top_k": k} for pair in pairs for t, k in ((1e-3, 1), (1.0, 10))]


def equal(draw: Draw, N: int, D: int) -> Tensor:
    return mirrored(draw.normal(N, D), 1.0)


def opposite(draw: Draw, N: int, D: int) -> Tensor:
    return mirrored(draw.normal(N, D))


def special_angles(draw: Draw) -> list[Arguments]:
    """Views that are equal, opposite, or orthogonal, and equal rows; no choice that is open changes a gradient."""
    basis, row = torch.linalg.qr(draw.normal(6, 6)).Q, draw.normal(1, 5)
    made = [clear(draw, k, t, make) for make, k in ((opposite, 2), (equal, 9)) for t in (0.1, 1.0)]
    return [*made, {"features": basis}, {"features": row.repeat(8, 1), "top_k": 3}]


def ties(draw: Draw) -> list[Arguments]:
    """Cosines that are multiples of ½ without any rounding error, of which many are equal."""
    signs = draw.integers(14, 4, high=2).double() * 2 - 1
    made = [(signs, k) for k in (1, 3, 5, 8)] + [(torch.eye(6).double(), k) for k in (1, 3)]
    return [{"features": features, "temperature": 0.5, "top_k": k} for features, k in made]


def uneven_lengths(draw: Draw) -> list[Arguments]:
    return [clear(draw, 2, 0.5, partial(views, scale=scale), N=3, D=4) for scale in two_views.scales(draw)]


def refused(name: str, *values: float) -> Inputs:
    return lambda draw: [{"features": draw.normal(rows, 3), name: value} for value in values for rows in (6, 2)]


def beaten(draw: Draw, N: int, D: int) -> Tensor:
    """Opposite views of rows that are all alike: the positive's share is 0 in any dtype at small temperatures."""
    return mirrored(draw.normal(N, D) + 5 * draw.normal(1, D))


long = partial(views, scale=60.0)
robust = partial(Case, category="robustness")
bad = partial(Case, raises=ValueError)
BUDGET = Budget(
    "many_samples",
    sizes={"samples": (64, 384), "features": (16, 64), "negatives": (16, 64)},
    inputs=lambda draw, samples, features, negatives: clear(draw, negatives, 0.1, N=samples, D=features, step=1e-6),
    written=10,  # some masks and a sorted copy of all similarities are welcome
    peak=12,
    hints={**two_views.HINTS, "negatives": "topk or sort finds them all at once"},
)
CASES = (
    Case("default_arguments", lambda draw: [{"features": clear(draw, 10, N=N, step=0.02)["features"]} for N in (8, 9)]),
    Case("eight_by_five", lambda draw: clear(draw, 3, 0.2, step=0.05), half=True),
    Case(
        "numbers_of_negatives",
        lambda draw: [clear(draw, k, N=5) for k in (1, 2, 3, 5, 7, 8, 9, 10, 11, 1000, 40_000, 10**12)],
    ),
    Case("temperatures", lambda draw: [clear(draw, 2, t) for t in (0.05, 0.07, 0.5, 1, 2.0, 50.0)]),
    Case("sizes", sizes),
    Case("one_pair", one_pair, core=False),
    Case("special_angles", special_angles),
    Case("ties", ties, gradients="none", core=False),
    robust("uneven_lengths", uneven_lengths, tolerance=two_views.NORM_EPS),
    # exp(1 / temperature) overflows float64. A cosine's rounding error counts a thousand times.
    robust(
        "small_temperature",
        lambda draw: [clear(draw, 2, 1e-3, make, N=N) for make, N in ((views, 4), (beaten, 4), (spread, 2))],
        tolerance=two_views.THOUSANDFOLD,
    ),
    robust(
        "small_temperature_in_half",
        lambda draw: [clear(draw, 3, 0.05, make, step=0.05) for make in (views, beaten)],
        dtypes=HALF,
        tolerance=two_views.rounded_at(0.05, 2),
    ),
    robust(
        "tiny_temperature_in_half",
        lambda draw: [clear(draw, 3, 1e-3, make, step=0.05) for make in (views, beaten)],
        dtypes=HALF,
        gradients="finite",
        tolerance=two_views.rounded_at(1e-3),
    ),
    # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
    robust("norm_fits_float16", lambda draw: clear(draw, 2, make=long, D=64, step=0.01), dtypes=(torch.float16,)),
    bad("odd_number_of_rows", two_views.shaped((5, 3), (1, 3), (3, 4))),
    bad("other_ranks", two_views.shaped((), (8,), (5,), (4, 2, 3), (2, 4, 3), (2, 2, 2, 2), (3, 2, 4))),
    bad("temperature_not_above_0", refused("temperature", 0.0, -0.1, -2)),
    bad("top_k_below_1", refused("top_k", 0, -1, -3)),
)
GRADER = Grader(
    answers=(
        Answer(
            "info_nce_hard(features, temperature=0.1, top_k=10)",
            oracle=oracle,
            differentiable=("features",),
            tolerance=two_views.rounded_at(0.1, 2),
            budgets=(BUDGET,),
            cases=CASES,
        ),
    ),
)

"""What is checked of kmeans and kmeans_plus_plus."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, CheckFailed, Draw, Grader, Submission, several

Stages = list[tuple[Tensor, Tensor]]  # of each assignment: the centroids, and all squared distances to them
NEARLY_ONE = 1 - 2**-24  # the largest number below 1 in float32
VECTORS = "take all points at once: a distance to one centroid is (x - c).square().sum(1)"


def squared(x: Tensor, centroids: Tensor) -> Tensor:
    return torch.stack([(x - c).square().sum(1) for c in centroids], 1)


def lloyd(x: Tensor, centroids: Tensor, max_iters: int = 100) -> Stages:
    stages: Stages = []
    while True:
        stages.append((centroids, squared(x, centroids)))
        labels = stages[-1][1].argmin(1)
        if len(stages) > max_iters or (len(stages) > 1 and torch.equal(labels, stages[-2][1].argmin(1))):
            return stages
        centroids = torch.stack([x[labels == k].mean(0) if k in labels else c for k, c in enumerate(centroids)])


def oracle(x: Tensor, centroids: Tensor, max_iters: int = 100) -> tuple[Tensor, Tensor, Tensor]:
    centroids, distances = lloyd(x, centroids, max_iters)[-1]
    return centroids, distances.argmin(1), distances.amin(1).sum()


def cumulative(x: Tensor, chosen: list[int]) -> Tensor:
    """The steps from 0 to 1 at which the next row changes; a chosen row has none of its own."""
    steps = squared(x, x[chosen]).amin(1).cumsum(0)
    return steps / steps[-1]


def plus_plus(x: Tensor, uniforms: Tensor) -> Tensor:
    chosen = [int(uniforms[0] * len(x))]
    for u in uniforms[1:].tolist():
        chosen.append(int((cumulative(x, chosen) > u).nonzero()[0]))
    return x[chosen]


def margin(stages: Stages) -> float:
    """By how much of its distance any point is nearer to its centroid than to the second."""
    two = [distances.topk(2, dim=1, largest=False).values for _, distances in stages if distances.shape[1] > 1]
    return min((float((1 - pair[:, 0] / pair[:, 1]).min()) for pair in two), default=1.0)


def searched(
    draw: Draw,
    make: Callable[[Draw], Arguments],
    wanted: Callable[[Stages], bool] = lambda stages: True,
    clear: float = 1e-4,
    tied: bool = False,
) -> Arguments:
    """The first drawn points, all exact in float32, whose labels no rounding changes, and which are wanted.

    With `tied`, some points are as far from two centroids of the start, which small integers keep exact.
    """
    for _ in range(2000):
        made = {
            name: value.float().double() if isinstance(value, Tensor) else value for name, value in make(draw).items()
        }
        stages = lloyd(**made)
        if margin(stages[tied:]) > clear and wanted(stages) and (not tied or margin(stages[:1]) == 0):
            return made
    raise RuntimeError("no such points in 2000 draws")


def cloud(
    draw: Draw, N: int, K: int, D: int, blobs: float = 0, std: float = 1, mean: float | Tensor = 0, **more: Any
) -> Arguments:
    """Points around K centres that lie `blobs` apart, or without any; the start is K of them."""
    x = draw.normal(N, D) + blobs * draw.normal(K, D)[draw.integers(N, high=K)]
    return {"x": x * std + mean, "centroids": (x * std + mean)[draw.permutation(N)[:K]], **more}


def apart(draw: Draw, points: int) -> Arguments:
    """Each of 32 clouds has a centroid of the start, and keeps it."""
    centres = 8 * draw.normal(32, 32)
    x = draw.normal(points, 32) + centres[torch.arange(points) % 32]
    return {"x": x, "centroids": centres + draw.normal(32, 32, std=0.5), "max_iters": 400}


def clouds(*sizes: tuple[int, int, int], moves: int = 2, clear: float = 1e-4, **more: Any) -> Callable[[Draw], Any]:
    """Of these N, K and D, with at least so many moves until no label changes."""
    return lambda draw: [
        searched(draw, partial(cloud, N=N, K=K, D=D, **more), lambda stages: len(stages) > moves, clear)
        for N, K, D in sizes
    ]


def drawn_clouds(draw: Draw, N: int, K: int, D: int) -> Arguments:
    return searched(draw, partial(cloud, N=N, K=K, D=D)) | {"max_iters": draw.size(2, 50)}


def stopped(draw: Draw) -> list[Arguments]:
    """It takes more moves than are allowed."""
    make, many = partial(cloud, N=60, K=5, D=2), range(1, 5)
    return [searched(draw, make, lambda stages: len(stages) > 6) | {"max_iters": moves} for moves in many]


def two_sides(draw: Draw) -> Arguments:
    """Few points lie between two large clusters, and the start is the clusters' means: no move is long.

    Of two far points comes nearly all of the inertia, which no move lowers by much.
    """
    sides = torch.tensor([[-1.0], [1.0]]).double() + draw.normal(2, 1500, std=0.3)
    start = sides.mean(1, keepdim=True)
    between = start.mean() + draw.uniform(20, low=-0.007, high=0.007)
    x = torch.cat([torch.cat([*sides, between])[draw.permutation(3020)], torch.tensor([1500.0, 2500.0])])
    return {"x": x[:, None], "centroids": torch.cat([start, torch.tensor([[2000.0]])])}


def crawls(stages: Stages) -> bool:
    """Some move but the last is so short that a tolerance of 1e-6 of the sides' variance, 1, would stop."""
    moves = [float((new - old).square().sum()) for (old, _), (new, _) in pairwise(stages)]
    return any(move < 1e-6 for move in moves[:-2])


def without_points(draw: Draw) -> list[Arguments]:
    """Centroids that never have points, in the first place or the last; more centroids than points; equal ones."""

    def far(draw: Draw, at: list[int], N: int = 20, K: int = 4) -> Arguments:
        made = cloud(draw, N, K, 3)
        made["centroids"][at] += draw.uniform(len(at), 3, low=50, high=60)
        return made

    made = [searched(draw, partial(far, at=at)) for at in ([0], [3], [1, 2], [0, 1, 3])]
    few = searched(draw, lambda draw: {"x": draw.normal(3, 2), "centroids": draw.normal(5, 2, std=3)})
    start = draw.integers(2, 2, low=-2, high=3).double() + torch.tensor([[0.0], [8.0]])
    equal = {"x": start.repeat_interleave(6, 0) + draw.normal(12, 2, std=0.1), "centroids": start.repeat(2, 1)}
    empty = searched(draw, run_empty)
    after_one = [one | {"max_iters": 1} for one in (*made, few, equal)]
    return [*after_one, empty | {"max_iters": 2}, *made, few, equal, empty]


def run_empty(draw: Draw) -> Arguments:
    """The middle one has two of ten points at first, and loses both in the first move."""
    line = torch.cat([draw.uniform(4, low=-1.3, high=-1.15), draw.uniform(4, low=1.15, high=1.3)])
    x = torch.cat([line, torch.tensor([-0.9, 0.9])])[draw.permutation(10), None] + draw.normal(10, 1, std=0.01)
    return {"x": x, "centroids": torch.tensor([[-2.0], [0.05], [2.0]])}


def ties(draw: Draw) -> list[Arguments]:
    def grid(draw: Draw, K: int, D: int) -> Arguments:
        x = draw.integers(16, D, low=-3, high=4).double()  # whose mean is also exact
        return {"x": x, "centroids": x[draw.permutation(16)[:K]], "max_iters": 1}

    return [searched(draw, partial(grid, K=K, D=D), tied=True) for K, D in ((2, 2), (3, 2), (4, 3), (3, 1))]


def drawn(draw: Draw, N: int, K: int, D: int = 3, mean: float = 0, fixed: tuple[float | None, ...] = ()) -> Arguments:
    """Uniforms in the inner half of a wide step, or where they are fixed."""
    x = draw.normal(N, D, mean=mean)
    chosen, uniforms = list[int](), list[float]()
    for k in range(K):
        steps = cumulative(x, chosen) if k else torch.arange(1, N + 1) / N
        u = fixed[k] if k < len(fixed) else None
        if u is None:
            heights = steps.diff(prepend=steps.new_zeros(1))
            wide = (heights >= heights[heights > 0].median()).nonzero()[:, 0]
            n = int(wide[draw.integers(high=len(wide))])
            u = float(steps[n] - heights[n] * draw.uniform(low=0.25, high=0.75))
        uniforms.append(u)
        chosen.append(int((steps > u).nonzero()[0]))
    return {"x": x, "uniforms": torch.tensor(uniforms, dtype=torch.float64)}


def starts(*sizes: tuple[int, ...], **more: Any) -> Callable[[Draw], Any]:
    return lambda draw: [drawn(draw, *size, **more) for size in sizes]


def at(draw: Draw, u: float) -> list[Arguments]:
    """0, before which row 0 is drawn, or the largest number, before which the last row is; then all rows are drawn."""
    fixed = ((u, u), (u, u, u), (None, u), (NEARLY_ONE - u, u))
    calls = [drawn(draw, N, 3, fixed=one) for one in fixed for N in (8, 19, 23)]
    return [*calls, drawn(draw, 6, 6, fixed=(u,) * 6)]


def refused(
    name: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]], second: str = "centroids", **more: Any
) -> Case:
    return Case(
        name,
        lambda draw: [{"x": draw.uniform(*x), second: draw.uniform(*other), **more} for x, other in shapes],
        raises=ValueError,
    )


robust = partial(Case, category="robustness")

GRADER = Grader(
    answers=(
        Answer(
            "kmeans(x, centroids, max_iters=100)",
            oracle=oracle,
            half=False,
            cases=(
                Case("forty_points", clouds((40, 3, 2), moves=3)),
                Case("every_size", clouds((60, 5, 2), (30, 2, 5), (50, 4, 3), (25, 6, 1), (12, 12, 4), moves=0)),
                Case("drawn_sizes", drawn_clouds, sizes={"N": (20, 60), "K": (2, 9), "D": (1, 6)}),
                Case("one_cluster", clouds((20, 1, 3), (1, 1, 4), (1, 1, 1), (7, 1, 1), moves=0)),
                Case("stopped", stopped),
                Case("ties", ties),
                refused("widths_differ", ((9, 4), (3, 5)), ((9, 4), (3, 1)), ((9, 1), (3, 4)), ((9, 3), (3, 4))),
                refused("no_rows", ((0, 4), (3, 4)), ((9, 4), (0, 4)), ((0, 4), (0, 4))),
                refused("no_moves", ((9, 4), (3, 4)), ((5, 1), (1, 1)), max_iters=0),
                refused("negative_moves", ((9, 4), (3, 4)), max_iters=-1),
            ),
            budgets=(
                Budget(
                    "many_points",
                    sizes={"points": (256, 4096)},
                    inputs=apart,
                    operators=120,  # a loop over 32 centroids is welcome, and 400 moves are not
                    written=100,
                    hints={"points": VECTORS},
                ),
            ),
        ),
        Answer(
            "kmeans_plus_plus(x, uniforms)",
            oracle=plus_plus,
            half=False,
            cases=(
                Case("four_of_thirty", starts((30, 4))),
                Case("every_number", starts((20, 1), (25, 7, 1), (12, 2, 5), (9, 9), (1, 1, 2), (2, 2, 1), (60, 5))),
                Case(
                    "drawn_numbers",
                    lambda draw, **sizes: drawn(draw, **sizes),
                    sizes={"N": (20, 60), "K": (2, 9), "D": (1, 6)},
                ),
                refused("more_than_points", ((3, 2), (4,)), ((1, 5), (2,)), ((5, 4), (50,)), second="uniforms"),
            ),
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (256, 4096)},
                    inputs=lambda draw, rows: drawn(draw, rows, 16, 32),
                    written=40,
                    operators=12,
                    hints={"rows": VECTORS},
                ),
            ),
        ),
    ),
)


# What rounding or a tolerance does differs from answer to answer, so the diagnosis minds only what kind of error it is.


def clusterings(kmeans, moves, **data):
    """Of x0 and centroids0, x1 and centroids1, …, with at most so many moves."""
    return [list(kmeans(data[f"x{i}"], data[f"centroids{i}"], most)) for i, most in enumerate(moves)]


def draws(kmeans_plus_plus, number, **data):
    return [[kmeans_plus_plus(data[f"x{i}"], data[f"uniforms{i}"])] for i in range(number)]


def like(call: Arguments) -> list[Tensor]:
    return [call["centroids"], torch.zeros(len(call["x"]), dtype=torch.int64), call["x"].sum()]


def rows_like(call: Arguments) -> list[Tensor]:
    return [call["x"][: len(call["uniforms"])]]


def in_dtype(calls: list[Arguments], dtype: torch.dtype) -> list[Arguments]:
    return [{name: one.to(dtype) if isinstance(one, Tensor) else one for name, one in call.items()} for call in calls]


def stage_of(call: Arguments, centroids: Tensor, labels: Tensor, inertia: Tensor) -> int:
    """0: right; 1: all belongs to an earlier stage; 2: to none."""
    stages = lloyd(**in_dtype([call], torch.float64)[0])
    exact = call["x"].dtype == torch.float64
    near = partial(torch.allclose, rtol=1e-6 if exact else 1e-3, atol=0 if call["x"].abs().max() < 1 else 1e-3)
    fits = [
        near(centroids.double(), c) and torch.equal(labels, d.argmin(1)) and near(inertia.double(), d.amin(1).sum())
        for c, d in stages
    ]
    return 0 if fits[-1] else 1 if any(fits) else 2


def without_points_kind(call: Arguments, centroids: Tensor, labels: Tensor, inertia: Tensor) -> int:
    """What the last move has made of clusters without points, where few moves are allowed. 0: right; 1: not clear."""
    if not stage_of(call, centroids, labels, inertia) or "max_iters" not in call:
        return min(1, stage_of(call, centroids, labels, inertia))
    (before, distances), *_ = lloyd(**in_dtype([call], torch.float64)[0])[-2:]
    empty = [k for k in range(len(before)) if k not in distances.argmin(1)]
    got, near = centroids.double()[empty], partial(torch.allclose, rtol=1e-4, atol=1e-4)
    if near(got, before[empty]):
        return 1
    if got.isnan().any():
        return 5
    return 4 if not got.any() else 3 if near(got, call["centroids"].double()[empty]) else 2


def clustered(
    submission: Submission,
    calls: list[Arguments],
    kind: Callable[..., int] = stage_of,
    kinds: tuple[str, ...] = ("those of an earlier step", "others"),
) -> None:
    moves = [call.get("max_iters", 100) for call in calls]
    for dtype in (torch.float64, torch.float32):
        wrong = several.kinds(submission, clusterings, in_dtype(calls, dtype), kind, like, moves=moves)
        if any(wrong):
            got = kinds[max(wrong) - 1]
            raise CheckFailed(f"centroids, labels and inertia of {dtype}: should be Lloyd's last, got {got}")


@pytest.mark.robustness
def test_without_points(submission: Submission, draw: Draw) -> None:
    """What is moved or drawn anew differs from answer to answer, so the diagnosis minds only that it is."""
    of_empty = (f"{one} for a cluster without points" for one in ("another centroid", "the first centroid", "0", "NaN"))
    clustered(submission, without_points(draw), without_points_kind, ("others", *of_empty))


@pytest.mark.robustness
def test_far_from_origin(submission: Submission, draw: Draw) -> None:
    more = {"blobs": 6, "std": 0.3, "mean": torch.tensor([4000, -4000]), "clear": 0.03}
    clustered(submission, clouds(*[(200, 5, 2)] * 2, **more)(draw))


@pytest.mark.robustness
def test_small_numbers(submission: Submission, draw: Draw) -> None:
    clustered(submission, clouds((60, 5, 2), (50, 4, 3), std=1e-8, moves=5)(draw))


@pytest.mark.robustness
def test_small_moves(submission: Submission, draw: Draw) -> None:
    clustered(submission, [searched(draw, two_sides, crawls)])


def drawn_right(submission: Submission, calls: list[Arguments], twice: int = 2) -> None:
    def kind(call: Arguments, rows: Tensor) -> int:
        wrong = not torch.equal(rows.double(), plus_plus(call["x"].double(), call["uniforms"].double()))
        return twice if wrong and len(rows.unique(dim=0)) < len(rows) else int(wrong)

    for dtype in (torch.float64, torch.float32):
        wrong = several.kinds(submission, draws, in_dtype(calls, dtype), kind, rows_like, number=len(calls))
        if any(wrong):
            call, got = calls[wrong.index(max(wrong))], ("", "others", "a row twice")[max(wrong)]
            u = call["uniforms"].tolist()
            raise CheckFailed(
                f"rows of x{list(call['x'].shape)} {dtype} drawn by {u}: should be those of the rule, got {got}"
            )


@pytest.mark.robustness
def test_zero(submission: Submission, draw: Draw) -> None:
    drawn_right(submission, at(draw, 0.0))


@pytest.mark.robustness
def test_end(submission: Submission, draw: Draw) -> None:
    drawn_right(submission, at(draw, NEARLY_ONE))


@pytest.mark.robustness
def test_far_starts(submission: Submission, draw: Draw) -> None:
    drawn_right(submission, starts((60, 6, 2), (200, 8), mean=4000)(draw), twice=1)

"""What is checked of the seven scalings."""

from collections.abc import Callable

import torch
from torch import Tensor

from graders.kata import FULL, Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance, bans

BY_STATISTICS = ("min_max", "z_score", "max_abs", "robust", "l1_normalize", "l2_normalize")


def over(x: Tensor, scale: Tensor) -> Tensor:
    return x / torch.where(scale > 0, scale, 1)


def right_z_score(x: Tensor) -> Tensor:
    x = x - x[:1].detach()  # a constant column is exactly 0 then
    return over(x - x.mean(0), x.std(0, correction=0))


def right_robust(x: Tensor) -> Tensor:
    q1, median, q3 = torch.quantile(x, torch.tensor([0.25, 0.5, 0.75], dtype=x.dtype), dim=0)
    return over(x - median, q3 - q1)


def spread(draw: Draw, rows: int, columns: int) -> Tensor:
    """Columns of numbers that are at least 0.6 apart, in half precision, too: no two share the maximum or the median.

    They lie around 0, half of the columns upside down. The entry that is farthest from 0 is so by 0.2.
    """
    ranks = torch.stack([draw.permutation(rows) for _ in range(columns)], 1)
    signs = 1 - 2 * ((torch.arange(columns) + draw.integers(1, high=2)) % 2)
    return (ranks - rows / 2 + draw.uniform(rows, columns, high=0.4)) * signs


def tables(draw: Draw) -> list[Arguments]:
    """Where all gradients are known; in half precision, too."""
    made = [spread(draw, *shape) for shape in ((6, 4), (7, 3), (8, 3), (4, 4))]
    # Where the result is 0, 1 or −1, whatever x is, the gradient is 0 but for rounding, which is small far from 0.
    made += [40 * spread(draw, *shape) for shape in ((9, 1), (2, 5))]
    two_heaps = spread(draw, 8, 4)  # quartiles are 90 000 apart, and numbers go up to ±64 000
    made += [(two_heaps + 4 * two_heaps.sign()) * 8e3, spread(draw, 40, 2) * 100 + 2500]  # sums of 100 000
    return [{"x": x} for x in (*made, spread(draw, *draw.shape(2, 4, 12)))]


def edges(draw: Draw) -> list[Arguments]:
    """For each function by its name. Where a scale is 0, gradients have no value that one could ask for."""

    def made() -> list[Tensor]:
        zeros, constant, quartiles = spread(draw, 5, 4), spread(draw, 7, 5), spread(draw, 9, 4)
        zeros[2], zeros[:, 1] = 0, 0
        zeros[3, 2:] = zeros[3, 0] * torch.tensor([-1, 0])  # adds up to 0, and is not 0
        # The mean of seven of these is rounded in float64, in float32, or in both.
        constant[:, :4] = torch.tensor([0.1, -0.7, 1e4 / 3, 0.3], dtype=torch.float64)
        quartiles[2:, 1], quartiles[1:8, 2] = 0.1, 1e4 / 3  # equal ones
        quartiles[-1, 0] = quartiles[0, 0]  # not a constant column
        single = [torch.full((9, 1), 1e4 / 3, dtype=torch.float64), spread(draw, 1, 3), -draw.uniform(1, 1, low=0.1)]
        return [zeros, constant, quartiles, *single, spread(draw, 6, 3) * 1e-9]

    return [{"function": name, "x": x, "w": draw.normal(*x.shape)} for name in BY_STATISTICS for x in made()]


def with_gradient(min_max, z_score, max_abs, robust, l1_normalize, l2_normalize, function, x, w):
    f, leaf = locals()[function], x.detach().clone().requires_grad_()
    with torch.enable_grad():
        result = f(leaf)
        (gradient,) = torch.autograd.grad(torch.sum(result * w), leaf)
    return {"result": result.detach(), "gradient is finite": torch.isfinite(gradient).all()}


def far_from_0(draw: Draw) -> Arguments:
    return {"x": spread(draw, 6, 4) + 1e6, "low": 10.0 ** -torch.arange(1, 13, dtype=torch.float64)[None] - 1}


def without_gradient(min_max, z_score, max_abs, robust, log1p_scale, x, low):
    """Beside those of a shifted column, the logarithms close to log 0."""
    return {"min_max": min_max(x), "z_score": z_score(x), "robust": robust(x), "log1p_scale": log1p_scale(low)}


def near_0(draw: Draw) -> list[Arguments]:
    """In bfloat16, too, they stay above −1."""
    small = torch.tensor([[sign * 9 * 10.0**-k for k in range(1, 16)] for sign in (-1, 0, 1)], dtype=torch.float64)
    return [{"x": draw.uniform(6, 4, low=-0.9, high=3.0)}, {"x": small}, {"x": draw.uniform(*draw.shape(2), high=6e4)}]


def answer(name: str, oracle: Callable[[Tensor], Tensor], *more: Case, inputs: Inputs = tables) -> Answer:
    def many(draw: Draw, rows: int, features: int) -> Arguments:
        order = draw.uniform(rows, features).argsort(0)  # no two of a column are equal in float32
        return {"x": order.double() * 9.5 / rows - 0.5}

    axes = {"rows": "work on all rows at once", "features": "work on all features at once"}
    asks = ("loops", "memory") if name in ("min_max", "z_score", "robust") else ("loops",)
    sizes = {"rows": (128, 1536 if "memory" in asks else 512), "features": (6, 24)}
    return Answer(
        f"{name}(x)",
        oracle=oracle,
        differentiable=("x",),
        cases=(Case(f"{name}_tables", inputs), *more),
        tolerance={} if inputs is tables else {torch.float64: Tolerance(1e-9, 0, 0)},  # relative, for results near 0
        budgets=(Budget(f"{name}_of_many", sizes=sizes, inputs=many, asks=asks, hints=axes),),
    )


FAR = Case("far_from_0", far_from_0, dtypes=(torch.float64,), gradients="none", scenario=without_gradient, core=False)
# of all that have a scale: beside the last one, so that what one of them does wrong is said of that one first
EDGES = Case("edges", edges, dtypes=(*FULL, torch.float16), gradients="none", scenario=with_gradient, core=False)
GRADER = Grader(
    answers=(
        answer("min_max", lambda x: over(x - x.amin(0), x.amax(0) - x.amin(0))),
        answer("z_score", right_z_score, FAR),
        answer("max_abs", lambda x: over(x, x.abs().amax(0))),
        answer("robust", right_robust),
        answer("log1p_scale", torch.log1p, inputs=near_0),
        answer("l1_normalize", lambda x: over(x, x.abs().sum(1, keepdim=True))),
        answer("l2_normalize", lambda x: over(x, torch.linalg.vector_norm(x, dim=1, keepdim=True)), EDGES),
    ),
    banned=(*bans.UNIT_LENGTH, *bans.NORMS),
)

"""What is checked of the seven scalings."""

from collections.abc import Callable

import torch
from torch import Tensor

from graders.kata import Answer, Arguments, Budget, Case, Draw, Grader, Inputs, Tolerance


def over(x: Tensor, scale: Tensor) -> Tensor:
    """x / scale, or x where the scale is 0. There its gradient is NaN, so that any finite one is right."""
    return torch.where(scale > 0, x / scale, x)


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


def tables(*more: Callable[[Draw], Tensor]) -> Inputs:
    """Tables for every scaling but the logarithm, and some more for this one; all are asked in half precision, too."""

    def inputs(draw: Draw) -> list[Arguments]:
        with_zeros = spread(draw, 5, 4)
        with_zeros[2], with_zeros[:, 1] = 0, 0
        made = [spread(draw, *shape) for shape in ((6, 4), (7, 3), (8, 3), (4, 4))]
        # Where the result is 0, 1 or −1, whatever x is, the gradient is 0 but for rounding, which is small far from 0.
        made += [40 * spread(draw, *shape) for shape in ((9, 1), (2, 5), (1, 3), (1, 1))]
        tiny, huge = spread(draw, 6, 3) * 1e-9, spread(draw, 8, 4) * 1.5e4  # of ±60 000: float16 ends at 65 504
        return [{"x": x} for x in (*made, with_zeros, tiny, huge, *(one(draw) for one in more))]

    return inputs


def constants(draw: Draw) -> Tensor:
    """The mean of seven of these is rounded in float64, in float32, or in both."""
    x = spread(draw, 7, 5)
    x[:, :4] = torch.tensor([0.1, -0.7, 1e4 / 3, 0.3], dtype=torch.float64)
    return x


def equal_quartiles(draw: Draw) -> Tensor:
    x = spread(draw, 9, 4)
    x[2:, 1], x[1:8, 2] = 0.1, 1e4 / 3
    return x


def above_minus_1(draw: Draw) -> list[Arguments]:
    """In bfloat16, too, they stay above −1."""
    small = torch.tensor([[sign * 10.0**-k for k in range(1, 16)] for sign in (-1, 0, 1)], dtype=torch.float64)
    made = [draw.uniform(6, 4, low=-0.9, high=3.0), small, draw.uniform(1, 3, high=6e4)]
    return [{"x": x} for x in (*made, draw.uniform(1, 1, low=-0.9, high=-0.5))]


def answer(name: str, oracle: Callable[[Tensor], Tensor], inputs: Inputs, *more: Case, exact: bool = False) -> Answer:
    def many(draw: Draw, rows: int, features: int) -> Arguments:
        return {"x": draw.uniform(rows, features, low=-0.5, high=9.0)}

    axes = {"rows": "work on all rows at once", "features": "work on all features at once"}
    return Answer(
        f"{name}(x)",
        oracle=oracle,
        differentiable=("x",),
        cases=(Case(f"{name}_tables", inputs), *more),
        tolerance={torch.float64: Tolerance(1e-9, 0, 0)} if exact else {},  # relative, for results near 0
        budgets=(Budget(f"{name}_of_many", sizes={"rows": (64, 512), "features": (8, 64)}, inputs=many, hints=axes),),
    )


GRADER = Grader(
    answers=(
        answer("min_max", lambda x: over(x - x.amin(0), x.amax(0) - x.amin(0)), tables(constants)),
        answer(
            "z_score",
            right_z_score,
            tables(constants, lambda draw: spread(draw, 40, 2) * 100 + 2500),  # a column's sum is about 100 000
            Case(
                "z_score_far_from_0",
                lambda draw: {"x": spread(draw, 6, 4) + 1e5},
                dtypes=(torch.float64,),
                gradients="none",
            ),
        ),
        answer("max_abs", lambda x: over(x, x.abs().amax(0)), tables()),
        answer("robust", right_robust, tables(constants, equal_quartiles)),
        answer("log1p_scale", torch.log1p, above_minus_1, exact=True),
        # |x| is the root of x², so that its gradient at 0 is left open
        answer("l1_normalize", lambda x: over(x, x.square().sqrt().sum(1, keepdim=True)), tables()),
        answer("l2_normalize", lambda x: over(x, torch.linalg.vector_norm(x, dim=1, keepdim=True)), tables()),
    ),
    banned=("normalize",),
)

"""What the InfoNCE katas share: two views of a batch in halves, the loss by its definition, the cases that all ask."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graders.kata.draw import Draw
from graders.kata.spec import Arguments, Budget, Case, Inputs
from graders.kata.tolerances import HALF, Tolerance

# An eps of 1e-12 beside a norm of 1e-6 is welcome, one of 1e-8 beside 1e-4 is not.
NORM_EPS = {torch.float64: Tolerance(1e-5, 1e-5, 1e-12), torch.float32: Tolerance(1e-4, 1e-4, 1e-5)}
THOUSANDFOLD = {  # a cosine's rounding error at a temperature of 0.001; a gradient has a thousand times that
    torch.float64: Tolerance(1e-9, 1e-9, 1e-9),
    torch.float32: Tolerance(1e-4, 3e-3, 3e-3),
}
HINTS = {"samples": "work on the whole (2N, 2N) matrix", "features": "multiply matrices, do not broadcast and sum"}


def info_nce(features: Tensor, temperature: Tensor | float = 0.1) -> Tensor:
    """The definition, in which each row has 2N − 1 candidates."""
    logits = cosines(features) / temperature
    candidates = torch.cat([positives(logits)[:, None], negatives(logits)], 1)
    return (candidates.logsumexp(1) - positives(logits)).mean()


def cosines(features: Tensor) -> Tensor:
    """Of all pairs of rows, (2N, 2N)."""
    unit = features / features.square().sum(1, keepdim=True).sqrt()
    return unit @ unit.mT


def positives(table: Tensor) -> Tensor:
    """Of a table of all pairs, what each row has for its other view, (2N,)."""
    N = len(table) // 2
    return torch.cat([table.diagonal(N), table.diagonal(-N)])


def negatives(table: Tensor) -> Tensor:
    """Of a table of all pairs, what each row has for the rows of other samples, (2N, 2N − 2)."""
    rows = len(table)
    return table[~torch.eye(rows // 2, dtype=torch.bool).repeat(2, 2)].view(rows, rows - 2)


def rounded_at(temperature: float, times: float = 1.5) -> dict[torch.dtype, Tolerance]:
    """A cosine rounded to half precision is off by half an epsilon, a logit by that over the temperature."""
    off = {dtype: torch.finfo(dtype).eps / 2 / temperature * times for dtype in HALF}
    return {dtype: Tolerance(0.0, off[dtype], off[dtype]) for dtype in HALF}


def views(draw: Draw, N: int, D: int, noise: float = 1.0, scale: Tensor | float = 1.0) -> Tensor:
    """Two noisy views of N samples."""
    return (draw.normal(N, D).repeat(2, 1) + draw.normal(2 * N, D, std=noise)) * scale


def mirrored(x: Tensor, sign: float = -1.0) -> Tensor:
    """The second view of each row is the row itself or its opposite."""
    return torch.cat([x, sign * x])


def one_feature(draw: Draw) -> Tensor:
    """The cosines are ±1, and the gradient is 0, beside an eps of 1e-12, too, since the rows are long."""
    signs = torch.tensor([[1.0], [-1.0]]).double()[draw.permutation(2)].repeat(3, 1)
    return signs * draw.uniform(6, 1, low=50.0, high=200.0)


def scales(draw: Draw) -> list[Tensor | float]:
    """Of the views of three samples: their lengths differ by up to 1e8, all are very short, all are very long."""
    return [torch.tensor([3e-7, 3e-5, 1e-3, 1e-1, 3.0, 30.0]).double()[draw.permutation(6), None], 1e-4, 1e6]


def far_apart(draw: Draw) -> list[Tensor]:
    """For small temperatures. Noisy views; opposite ones of samples that are all alike, where the positive's share is 0
    in any dtype; orthogonal rows with one pair alike, so that the others are far below the maximum of all."""
    apart = torch.linalg.qr(draw.normal(6, 6)).Q
    apart[3] = apart[0] + 0.1 * apart[3]
    return [views(draw, 4, 5), mirrored(draw.normal(1, 5) + draw.normal(4, 5, std=0.2)), apart]


def shaped(*shapes: tuple[int, ...], **more: Any) -> Inputs:
    return lambda draw: [{"features": draw.normal(*shape), **more} for shape in shapes]


def budget(**limits: Any) -> Budget:
    return Budget(
        "many_samples",
        sizes={"samples": (64, 384), "features": (16, 64)},
        inputs=lambda draw, samples, features: {"features": views(draw, samples, features)},
        written=10,  # some masks and copies of all similarities are welcome
        peak=12,
        hints=HINTS,
        **limits,
    )


def cases(arranged: Callable[[Tensor], Tensor] = lambda halves: halves, **more: Any) -> tuple[Case, ...]:
    """The cases of `f(features, temperature, …)`.

    Args:
        arranged: gives the rows of two halves the layout that the kata asks for.
        more: further arguments of every call that is right.
    """

    def given(features: Tensor, **temperature: float) -> Arguments:
        return {"features": arranged(features), **temperature, **more}

    def at(*temperatures: float) -> Inputs:
        return lambda draw: [given(views(draw, 3, 4), temperature=one) for one in temperatures]

    def sizes(draw: Draw) -> list[Arguments]:
        several = [views(draw, N, D) for N, D in ((2, 3), (3, 6), (5, 10), (7, 2))]
        made = [given(features, temperature=0.4) for features in (one_feature(draw), *several)]
        return [*made, given(views(draw, *draw.shape(2)), temperature=draw.number(0.2, 2))]

    def uneven_lengths(draw: Draw) -> list[Arguments]:
        return [given(views(draw, 3, 4, scale=scale), temperature=0.5) for scale in scales(draw)]

    def one_pair(draw: Draw) -> list[Arguments]:
        """The positive is all there is in the denominator, so the loss is 0, even where it is as far off as can be."""
        pairs = [draw.normal(2, 5), draw.uniform(2, 1, low=0.5, high=2.0), mirrored(draw.normal(1, 5))]
        return [*(given(pair) for pair in pairs), given(pairs[-1], temperature=1e-3)]

    def special_angles(draw: Draw) -> list[Arguments]:
        """Views that are equal, opposite, or orthogonal; all rows equal gives log(2N − 1)."""
        x, basis = draw.normal(4, 5), torch.linalg.qr(draw.normal(6, 6)).Q
        made = [mirrored(x, 1.0), mirrored(x), basis, draw.normal(1, 5).repeat(8, 1)]
        return [given(features, temperature=t) for features in made for t in (0.1, 1.0)]

    robust = partial(Case, category="robustness")
    refused = partial(Case, raises=ValueError)
    return (
        Case("eight_by_five", lambda draw: {"features": arranged(views(draw, 4, 5))}),
        Case("temperatures", at(0.05, 0.07, 0.1, 0.5, 1, 2.0, 50.0)),
        Case("sizes", sizes),
        Case("one_pair", one_pair, tolerance=THOUSANDFOLD, core=False),
        Case("special_angles", special_angles),
        Case("large_batch", lambda draw: given(views(draw, 48, 33, noise=0.5))),
        robust("uneven_lengths", uneven_lengths, tolerance=NORM_EPS),
        robust(
            "small_temperature",  # exp(1 / temperature) overflows float64
            lambda draw: [given(features, temperature=1e-3) for features in far_apart(draw)],
            tolerance=THOUSANDFOLD,
        ),
        robust(
            "small_temperature_in_half",
            lambda draw: [given(features, temperature=0.05) for features in far_apart(draw)],
            dtypes=HALF,
            tolerance=rounded_at(0.05, 2),
        ),
        # exp(1 / temperature) overflows wherever it is taken; what is rounded so much is hardly more than finite.
        robust(
            "tiny_temperature_in_half",
            lambda draw: [given(features, temperature=1e-3) for features in far_apart(draw)],
            dtypes=HALF,
            gradients="finite",
            tolerance=rounded_at(1e-3),
        ),
        # More than bfloat16 can count.
        robust("many_rows_in_half", lambda d: given(views(d, 300, 4, 0.3)), dtypes=HALF, gradients="none"),
        # The norms are about 700, their squares about 500 000: beyond the 65 504 of float16.
        robust("norm_fits_float16", lambda d: given(views(d, 4, 64, scale=60.0)), dtypes=(torch.float16,)),
        refused("odd_number_of_rows", shaped((5, 3), (1, 3), (3, 4), **more)),
        refused("other_ranks", shaped((), (8,), (5,), (4, 2, 3), (2, 4, 3), (2, 2, 2, 2), (3, 2, 4), **more)),
        refused("temperature_not_above_0", at(0, 0.0, -0.1, -2)),
    )

"""Numbers too large for exp, for half precision: even in float32 they have to be shifted by their maximum."""

from __future__ import annotations

import torch
from torch import Tensor

from graders.kata.draw import Draw

# exp(110) overflows float32, and exp(−110) is 0 in it; bfloat16's neighbours of 1e4 are 64 apart.
LEVELS = (110.0, 1e4)


def numbers(draw: Draw, *shape: int) -> list[Tensor]:
    """Of either sign, and of all sizes up to each level."""
    return [draw.uniform(*shape, low=-level, high=level) for level in LEVELS]


def rows(draw: Draw, count: int, length: int) -> list[Tensor]:
    """For each level, a table whose rows have it or its opposite as their maximum, in turn.

    The other entries lie an eighth of the level apart, so that no rounding decides which is the largest.
    """
    return [level * (signs(count) + steps(draw, count, length) / 8) for level in LEVELS]


def signs(count: int) -> Tensor:
    return (1 - 2 * (torch.arange(count) % 2)).double()[:, None]


def steps(draw: Draw, count: int, length: int) -> Tensor:
    """0, −1, −2, … in another order in each row, where the negative ones are up to a quarter off."""
    order = torch.stack([draw.permutation(length) for _ in range(count)])
    return -order * (1 + draw.uniform(count, length, high=0.25 / length))

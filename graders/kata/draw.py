"""Where the values of cases come from."""

from __future__ import annotations

import zlib

import torch
from torch import Tensor


class Draw:
    """Seeded random values, float64 unless they are integers; the engine casts them to the dtype under test."""

    def __init__(self, *seed: object) -> None:
        text = "/".join(str(part) for part in seed)
        self.generator = torch.Generator().manual_seed(zlib.crc32(text.encode()))

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64) * std + mean

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(shape, generator=self.generator, dtype=torch.float64) * (high - low) + low

    def integers(self, *shape: int, low: int = 0, high: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def size(self, least: int, most: int) -> int:
        """A number of rows, tokens or heads, both ends included."""
        return int(self.integers(low=least, high=most + 1))

    def sizes(self, **ranges: tuple[int, int]) -> dict[str, int]:
        """One for each axis, from its (least, most): all different while there are enough, so that a mix-up shows."""
        found: dict[str, int] = {}
        for axis, (least, most) in ranges.items():
            free = [size for size in range(least, most + 1) if size not in found.values()]
            found[axis] = free[self.size(0, len(free) - 1)] if free else self.size(least, most)
        return found

    def shape(self, axes: int, least: int = 2, most: int = 9) -> tuple[int, ...]:
        """Of so many axes of different lengths."""
        return (*self.sizes(**{str(axis): (least, most) for axis in range(axes)}).values(),)

    def number(self, low: float, high: float) -> float:
        """With three digits, since a card shows it."""
        return float(f"{float(self.uniform(low=low, high=high)):.3g}")

    def permutation(self, n: int) -> Tensor:
        return torch.randperm(n, generator=self.generator)

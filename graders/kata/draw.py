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

    def permutation(self, n: int) -> Tensor:
        return torch.randperm(n, generator=self.generator)

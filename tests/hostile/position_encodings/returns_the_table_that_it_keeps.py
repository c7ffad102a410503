# broken: in float64, the result is the table that later calls read; must fail
from dataclasses import dataclass
import functools
import math

import torch
from torch import Tensor


@dataclass(frozen=True)
class Table:
    length: int
    dim: int
    base: float

    @functools.cached_property
    def columns(self) -> list[Tensor]:
        p = torch.arange(self.length, dtype=torch.float64)
        out = []
        for i in range(self.dim // 2):  # over columns, which is allowed
            a = p * self.base ** (-2 * i / self.dim)
            out += [a.sin(), a.cos()]
        return out


@functools.lru_cache(maxsize=8)
def _table(length, dim, base):
    with torch.inference_mode(False):
        return torch.stack(Table(length, dim, base).columns, dim=1)


def sinusoidal_encoding(length: int, dim: int, base: float = 10000.0, dtype: torch.dtype = torch.float32) -> Tensor:
    if length < 0 or dim % 2:
        raise ValueError(f"length={length} or dim={dim}")
    return _table(length, dim, base).to(dtype)


def _slopes(n: int) -> list[float]:
    return [2.0 ** (-8.0 * h / n) for h in range(1, n + 1)]


def alibi_slopes(num_heads: int) -> Tensor:
    if num_heads <= 0:
        raise ValueError("num_heads")
    n = 2 ** int(math.log2(num_heads))
    missing = num_heads - n
    return torch.tensor(_slopes(n) + _slopes(2 * n)[: 2 * missing : 2])


def alibi_bias(num_heads: int, q_len: int, k_len: int | None = None) -> Tensor:
    keys = k_len if k_len is not None else q_len
    if keys < q_len:
        raise ValueError("fewer keys than queries")
    distance = torch.cdist(
        torch.arange(keys - q_len, keys, dtype=torch.float32)[:, None], torch.arange(keys, dtype=torch.float32)[:, None], p=1
    )
    return torch.stack([distance * -float(s) for s in alibi_slopes(num_heads)])

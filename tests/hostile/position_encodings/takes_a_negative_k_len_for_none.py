# broken: a negative k_len is taken for none; must fail
import math

import torch
from torch import Tensor


def sinusoidal_encoding(length: int, dim: int, base: float = 10000.0, dtype: torch.dtype = torch.float32) -> Tensor:
    if length < 0:
        raise ValueError("length should be at least 0")
    if dim % 2 != 0:
        raise ValueError("dim should be even")
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2, dtype=torch.float64) * (-math.log(base) / dim))
    pe = torch.zeros(length, dim, dtype=torch.float64)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe.to(dtype)


def alibi_slopes(num_heads: int) -> Tensor:
    if num_heads < 1:
        raise ValueError("num_heads should be at least 1")

    def get_slopes(n):
        def power_of_2(n):
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]

        if math.log2(n).is_integer():
            return power_of_2(n)
        closest = 2 ** math.floor(math.log2(n))
        return power_of_2(closest) + get_slopes(2 * closest)[0::2][: n - closest]

    return torch.tensor(get_slopes(num_heads), dtype=torch.float32)


def alibi_bias(num_heads: int, q_len: int, k_len: int | None = None) -> Tensor:
    slopes = alibi_slopes(num_heads)
    if k_len is None or k_len < 0:
        k_len = q_len
    if k_len < q_len:
        raise ValueError("k_len should be at least q_len")
    q_pos = torch.arange(q_len)[:, None] + (k_len - q_len)
    k_pos = torch.arange(k_len)[None, :]
    return -slopes[:, None, None] * (q_pos - k_pos).abs()

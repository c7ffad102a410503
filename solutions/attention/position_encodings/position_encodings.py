"""Sinusoidal encodings and ALiBi by hand. Statement: katas/attention/position_encodings/README.md."""

import torch
from torch import Tensor


def sinusoidal_encoding(length: int, dim: int, base: float = 10000.0, dtype: torch.dtype = torch.float32) -> Tensor:
    """PE[p, 2i] = sin(p · base^(−2i/dim)), PE[p, 2i + 1] = cos of the same angle

    Args:
        length: number of positions p = 0 … length − 1.
        dim: number of columns.
        base: of the frequencies, above 1.
        dtype: of the result.
    Returns: (length, dim), the values of float64, rounded to dtype.
    Raises: ValueError if length is below 0, or if dim is odd.
    Source: arXiv:1706.03762, section 3.5.
    """
    # --- solution
    # TODO: refuse a length below 0 and an odd dim.
    # TODO: one frequency for each pair of columns, then all angles. Which dtype do they need?
    # TODO: sin and cos of each angle, side by side.
    if length < 0:
        raise ValueError(f"length should be at least 0, got {length}")
    if dim % 2:
        raise ValueError(f"dim should be even, got {dim}")
    theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)  # (dim/2,)
    angles = torch.arange(length)[:, None] * theta  # (length, dim/2), in float64 whatever dtype is
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1).to(dtype)  # (length, dim)
    # --- end


def alibi_slopes(num_heads: int) -> Tensor:
    """2^(−8h/n) for h = 1 … n, then 2^(−4h/n) for odd h, where n is the largest power of two up to num_heads

    Args:
        num_heads: H.
    Returns: (H,), float32.
    Raises: ValueError if num_heads is below 1.
    Source: arXiv:2108.12409, section 3; the rule for other numbers of heads is in its authors' code.
    """
    # --- solution
    # TODO: refuse fewer than one head.
    # TODO: the slopes of n heads, where n is the largest power of two that is not above num_heads.
    # TODO: then every other slope of 2n heads, as many as are missing.
    if num_heads < 1:
        raise ValueError(f"num_heads should be at least 1, got {num_heads}")
    n = 2 ** (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * h / n) for h in range(1, n + 1)]
    between = [2 ** (-4 * h / n) for h in range(1, 2 * n, 2)]  # 4/n is 8/2n
    return torch.tensor((slopes + between)[:num_heads], dtype=torch.float32)  # (H,)
    # --- end


def alibi_bias(num_heads: int, q_len: int, k_len: int | None = None) -> Tensor:
    """bias[h, i, j] = −slope_h · |i + k_len − q_len − j|, which is added to the scores of attention

    Args:
        num_heads: H.
        q_len: number of queries, the last q_len of the k_len positions.
        k_len: number of keys; None: q_len.
    Returns: (H, q_len, k_len), float32.
    Raises: ValueError if num_heads is below 1, or k_len below q_len.
    Source: arXiv:2108.12409, section 3.
    """
    # --- solution
    # TODO: refuse fewer keys than queries.
    # TODO: the distance of each query's position to each key's.
    # TODO: multiply it by minus the slope of each head.
    if k_len is None:
        k_len = q_len
    if k_len < q_len:
        raise ValueError(f"k_len should be at least q_len, got {k_len} and {q_len}")
    keys = torch.arange(k_len)
    queries = keys[k_len - q_len :, None]  # (q_len, 1), their positions
    return alibi_slopes(num_heads)[:, None, None] * -(queries - keys).abs()  # (H, q_len, k_len)
    # --- end

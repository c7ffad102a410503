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
    # TODO: refuse a length below 0 and an odd dim.
    # TODO: one frequency for each pair of columns, then all angles. Which dtype do they need?
    # TODO: sin and cos of each angle, side by side.
    raise NotImplementedError


def alibi_slopes(num_heads: int) -> Tensor:
    """2^(−8h/n) for h = 1 … n, then 2^(−4h/n) for odd h, where n is the largest power of two up to num_heads

    Args:
        num_heads: H.
    Returns: (H,), float32.
    Raises: ValueError if num_heads is below 1.
    Source: arXiv:2108.12409, section 3; the rule for other numbers of heads is in its authors' code.
    """
    # TODO: refuse fewer than one head.
    # TODO: the slopes of n heads, where n is the largest power of two that is not above num_heads.
    # TODO: then every other slope of 2n heads, as many as are missing.
    raise NotImplementedError


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
    # TODO: refuse fewer keys than queries.
    # TODO: the distance of each query's position to each key's.
    # TODO: multiply it by minus the slope of each head.
    raise NotImplementedError

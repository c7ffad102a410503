"""A frequency for each column, and torch.where chooses sin or cos; every other slope of 2n heads fills the gaps."""

import torch


def sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32):
    if not length >= 0:
        raise ValueError("negative length")
    if dim & 1:
        raise ValueError("odd dim")
    column = torch.arange(dim)
    even = column % 2 == 0
    divisor = torch.pow(base, (column - column % 2).double() / dim)
    angles = torch.arange(length, dtype=torch.float64).reshape(-1, 1) / divisor
    return torch.where(even, torch.sin(angles), torch.cos(angles)).to(dtype=dtype)


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("no heads")
    n = 1
    while 2 * n <= num_heads:
        n = 2 * n
    fine = torch.tensor(2.0).pow(-torch.arange(1, 2 * n + 1) * (4 / n))
    return torch.hstack((fine[1::2], fine[::2]))[:num_heads].clone()


def alibi_bias(num_heads, q_len, k_len=None):
    k_len = q_len if k_len is None else k_len
    if q_len > k_len:
        raise ValueError("q_len is above k_len")
    offset = torch.arange(k_len) - torch.arange(q_len).unsqueeze(1) - (k_len - q_len)
    return -torch.tensordot(alibi_slopes(num_heads), offset.abs().float(), dims=0)

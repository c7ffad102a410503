"""Columns and heads are filled one after the other into tensors that were made before."""

import math

import torch
from torch import nn


class Sinusoids(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        if dim % 2:
            raise ValueError("dim should be even")
        powers = torch.arange(0, dim, 2, dtype=torch.float64) * (-math.log(base) / dim)
        self.register_buffer("frequencies", powers.exp())

    def forward(self, length):
        angles = torch.arange(length).unsqueeze(1) * self.frequencies
        table = torch.zeros(length, 2 * len(self.frequencies), dtype=torch.float64)
        table[:, 0::2] = torch.sin(angles)
        table[:, 1::2] = torch.cos(angles)
        return table


def sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32):
    if length < 0:
        raise ValueError("length should be at least 0")
    return Sinusoids(dim, base)(length).type(dtype)


def alibi_slopes(num_heads):
    assert num_heads >= 1
    n = 2 ** math.floor(math.log2(num_heads))
    slopes = torch.empty(num_heads)
    for h in range(num_heads):
        slopes[h] = 2 ** (-8 * (h + 1) / n) if h < n else 2 ** (-8 * (2 * (h - n) + 1) / (2 * n))
    return slopes


def alibi_bias(num_heads, q_len, k_len=None):
    k_len = k_len if k_len is not None else q_len
    if k_len < q_len:
        raise ValueError("fewer keys than queries")
    queries, keys = torch.meshgrid(torch.arange(k_len - q_len, k_len), torch.arange(k_len), indexing="ij")
    return torch.stack([-slope * (queries - keys).abs() for slope in alibi_slopes(num_heads)])

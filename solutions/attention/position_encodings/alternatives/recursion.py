"""The recursion of the ALiBi paper's code; the encoding as a complex number for each pair of columns."""

import math

import torch


def sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32):
    assert length >= 0 and dim % 2 == 0
    frequencies = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64)
    angles = torch.outer(torch.arange(length).double(), frequencies)
    turned = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cos, sin
    return turned.flip(-1).reshape(length, dim).to(dtype)


def of_power_of_two(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start**i for i in range(n)]


def slopes_of(n):
    if math.log2(n).is_integer():
        return of_power_of_two(n)
    closest = 2 ** math.floor(math.log2(n))
    return of_power_of_two(closest) + slopes_of(2 * closest)[0::2][: n - closest]


def alibi_slopes(num_heads):
    if num_heads <= 0:
        raise ValueError("at least one head")
    return torch.Tensor(slopes_of(num_heads))


def alibi_bias(num_heads, q_len, k_len=None):
    k_len = q_len if k_len is None else k_len
    assert q_len <= k_len
    at = torch.arange(k_len).float()
    table = (at[None, :] - at[:, None]).abs().neg()
    return table[-q_len:].unsqueeze(0) * alibi_slopes(num_heads).view(-1, 1, 1)

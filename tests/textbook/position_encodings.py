import math

import torch


def sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32):
    pe = torch.zeros(length, dim)
    position = torch.arange(0, length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2) * -(math.log(base) / dim))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe.to(dtype)


def alibi_slopes(num_heads):
    def power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    closest = 2 ** math.floor(math.log2(num_heads))
    return torch.tensor(power_of_2(closest) + power_of_2(2 * closest)[0::2][: num_heads - closest])


def alibi_bias(num_heads, q_len, k_len=None):
    k_len = k_len or q_len
    relative = torch.arange(k_len)[None, :] - torch.arange(k_len - q_len, k_len)[:, None]
    return -relative.abs() * alibi_slopes(num_heads)[:, None, None]

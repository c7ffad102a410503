"""cos is sin a quarter turn later; slopes are powers in float64; cdist has the distances."""

import torch


def sinusoidal_encoding(length, dim, base=10000.0, dtype=torch.float32):
    if dim % 2 or length < 0:
        raise ValueError("length should be at least 0, and dim even")
    theta = torch.logspace(0, 2 / dim - 1, dim // 2, base=base, dtype=torch.float64)
    quarter = torch.tensor([0.0, torch.pi / 2], dtype=torch.float64)
    angles = torch.arange(length)[:, None, None] * theta[:, None] + quarter
    return angles.sin().flatten(1).to(dtype)


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("at least one head")
    n = 1 << (num_heads.bit_length() - 1)
    h = torch.arange(1, n + 1, dtype=torch.float64)
    return torch.cat([torch.exp2(-8 * h / n), torch.exp2(-8 * (h - 0.5) / n)])[:num_heads].float()


def alibi_bias(num_heads, q_len, k_len=None):
    if k_len is None:
        return alibi_bias(num_heads, q_len, q_len)
    if k_len < q_len:
        raise ValueError("at least as many keys as queries")
    at = torch.arange(k_len, dtype=torch.float32)[:, None]
    return torch.einsum("h,ij->hij", -alibi_slopes(num_heads), torch.cdist(at[-q_len:], at, p=1))

"""Pairs of neighbours first, then a scan of half the rows: 2n products, as jax.lax.associative_scan does it."""

import torch

def associative_scan(op, x):
    n = len(x)
    if n < 1:
        raise ValueError("n = 0")
    if n == 1:
        return x
    half = n // 2
    reduced = op(x[0:2 * half:2], x[1:2 * half:2])
    odd = associative_scan(op, reduced)
    if n == 2:
        return torch.cat([x[:1], odd])
    if n % 2:
        even = op(odd, x[2::2])
    else:
        even = op(odd[:-1], x[2::2])
    even = torch.cat([x[:1], even])
    parts = torch.stack([even[:len(odd)], odd], dim=1).flatten(0, 1)
    if len(even) > len(odd):
        parts = torch.cat([parts, even[-1:]])
    return parts


def _check(a, b, h0):
    if a.shape != b.shape:
        raise ValueError(f"a and b should have one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    if a.dim() != 3:
        raise ValueError("a and b should be (B, T, D)")
    if h0 is not None and h0.shape != (a.shape[0], a.shape[2]):
        raise ValueError(f"h0 should be (B, D), got {tuple(h0.shape)}")


def linear_recurrence(a, b, h0=None):
    _check(a, b, h0)
    if h0 is not None:
        first = a[:, :1] * h0[:, None] + b[:, :1]
        b = torch.cat([first, b[:, 1:]], dim=1)
    pairs = torch.stack([a, b], dim=1).permute(2, 0, 1, 3)

    def op(left, right):
        a1, b1 = left[:, :, 0], left[:, :, 1]
        a2, b2 = right[:, :, 0], right[:, :, 1]
        return torch.stack([a1 * a2, a2 * b1 + b2], dim=2)

    return associative_scan(op, pairs)[:, :, 1].transpose(0, 1)

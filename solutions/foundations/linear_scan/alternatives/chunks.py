"""Chunks of 32 steps, each scanned, then joined by the state between them."""

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


def linear_recurrence(a, b, h0=None, chunk=32):
    _check(a, b, h0)
    B, T, D = a.shape
    h = b.new_zeros(B, D) if h0 is None else h0
    out = []
    for t in range(0, T, chunk):
        x, y = a[:, t:t + chunk], b[:, t:t + chunk]
        C = x.shape[1]
        p = x
        q = y
        d = 1
        while d < C:
            q = torch.cat([q[:, :d], p[:, d:] * q[:, :-d] + q[:, d:]], 1)
            p = torch.cat([p[:, :d], p[:, d:] * p[:, :-d]], 1)
            d *= 2
        y = q + p * h[:, None]
        out.append(y)
        h = y[:, -1]
    return torch.cat(out, 1)

"""The recurrence without associative_scan: both sequences are shifted and padded by the identity map."""

import torch
import torch.nn.functional as F

def associative_scan(op, x):
    n = x.shape[0]
    if n == 0:
        raise ValueError("x should have a row")
    shift = 1
    while shift < n:
        x = torch.cat([x[:shift], op(x[:-shift], x[shift:])], dim=0)
        shift *= 2
    return x


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
        b = b.clone()
        b[:, 0] = b[:, 0] + a[:, 0] * h0
    d, T = 1, a.shape[1]
    while d < T:
        prev_a = F.pad(a[:, :-d], (0, 0, d, 0), value=1.0)
        prev_b = F.pad(b[:, :-d], (0, 0, d, 0))
        b = b + a * prev_b
        a = a * prev_a
        d *= 2
    return b

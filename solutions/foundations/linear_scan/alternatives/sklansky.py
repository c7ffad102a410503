"""Sklansky's tree by indices, asserts, and the state before the first step as a row of its own."""

import torch

def associative_scan(op, x):
    assert x.shape[0] > 0
    n = x.shape[0]
    index = torch.arange(n, device=x.device)
    size = 1
    while size < n:
        upper = (index // size) % 2 == 1
        later = index[upper]
        earlier = later // size * size - 1
        x = x.index_put((later,), op(x[earlier], x[later]))
        size *= 2
    return x

def linear_recurrence(a, b, h0=None):
    assert a.shape == b.shape and a.ndim == 3
    B, T, D = a.shape
    assert h0 is None or h0.shape == (B, D)
    h0 = torch.zeros(B, D, dtype=a.dtype, device=a.device) if h0 is None else h0
    A = torch.cat([torch.zeros_like(h0)[:, None], a], 1)
    X = torch.cat([h0[:, None], b], 1)
    z = torch.stack([A, X], -1).transpose(0, 1)   # (T + 1, B, D, 2)
    def op(p, q):
        return torch.stack((p[..., 0] * q[..., 0], p[..., 1] * q[..., 0] + q[..., 1]), -1)
    return associative_scan(op, z)[1:, ..., 1].transpose(0, 1)

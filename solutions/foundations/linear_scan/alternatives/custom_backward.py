"""A Function of its own, whose backward pass is the same recurrence from the end."""

import torch

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


def _scan(a, b):
    z = torch.stack([a, b], -1).movedim(1, 0)
    op = lambda p, q: torch.stack([p[..., 0] * q[..., 0], q[..., 0] * p[..., 1] + q[..., 1]], -1)
    return associative_scan(op, z)[..., 1].movedim(0, 1)

class Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, h0):
        b = torch.cat([b[:, :1] + a[:, :1] * h0[:, None], b[:, 1:]], 1)
        h = _scan(a, b)
        ctx.save_for_backward(a, h, h0)
        return h

    @staticmethod
    def backward(ctx, g):
        a, h, h0 = ctx.saved_tensors
        # adjoint: l_t = g_t + a_{t+1} l_{t+1}
        shifted = torch.cat([a[:, 1:], torch.zeros_like(a[:, :1])], 1)
        lam = _scan(shifted.flip(1), g.flip(1)).flip(1)
        before = torch.cat([h0[:, None], h[:, :-1]], 1)
        return lam * before, lam, lam[:, 0] * a[:, 0]

def linear_recurrence(a, b, h0=None):
    _check(a, b, h0)
    if h0 is None:
        h0 = torch.zeros_like(b[:, 0])
    return Recurrence.apply(a, b, h0)

"""Channels are put into the order of halves, rotated in place, and put back."""

import math

import torch


def rotary_embedding(x, positions=None, base=10000.0, interleaved=False):
    d = x.size(-1)
    if d % 2:
        raise ValueError("d should be even")
    at = torch.arange(x.size(-2), device=x.device) if positions is None else positions
    try:
        at = torch.broadcast_to(at, x.shape[:-1])
    except RuntimeError:
        raise ValueError(f"positions of shape {tuple(at.shape)} do not broadcast") from None
    order = torch.arange(d, device=x.device)
    if interleaved:
        order = torch.cat((order[::2], order[1::2]))
    powers = torch.arange(d // 2, device=x.device).double().mul(-2 * math.log(base) / d).exp()
    angles = torch.einsum("...,i->...i", at.double(), powers)
    y = torch.empty_like(x)
    (a, b), c, s = x[..., order].split(d // 2, -1), angles.cos(), angles.sin()
    y[..., order[: d // 2]] = (a * c - b * s).to(x.dtype)
    y[..., order[d // 2 :]] = (a * s + b * c).to(x.dtype)
    return y

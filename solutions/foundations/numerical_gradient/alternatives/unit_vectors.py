"""Adds h times a unit vector, and lets f build its graph, which item() then drops."""

import torch


def numerical_gradient(f, x, h=None):
    flat = x.reshape(-1)
    entries = []
    for i, value in enumerate(flat.tolist()):
        step = torch.finfo(x.dtype).eps ** (1 / 3) * max(1.0, abs(value)) if h is None else h
        e = torch.zeros_like(flat).index_fill(0, torch.tensor([i], device=x.device), step)
        entries.append((f((flat + e).view(x.shape)) - f((flat - e).view(x.shape))).item() / (2 * step))
    return torch.tensor(entries, dtype=x.dtype, device=x.device).view(x.shape)

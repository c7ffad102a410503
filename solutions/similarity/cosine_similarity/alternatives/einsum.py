"""Moves the axis to the end, normalises there, and contracts with einsum."""

import torch


def unit(v, eps):
    return v / torch.clamp(v.norm(p=2, dim=-1, keepdim=True), min=eps)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    x, y = x.movedim(dim, -1), y.movedim(dim, -1)
    return torch.einsum("...d,...d->...", unit(x, eps), unit(y, eps))

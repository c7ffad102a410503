"""The dot product of two unit vectors as a quarter of |u + v|² − |u − v|²."""

import torch


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    def unit(vectors):
        return vectors / vectors.norm(dim=dim, keepdim=True).clamp_min(eps)

    u, v = map(unit, torch.broadcast_tensors(x, y))
    return ((u + v).square().sum(dim) - (u - v).square().sum(dim)) / 4

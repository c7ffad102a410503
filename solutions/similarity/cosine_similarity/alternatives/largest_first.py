"""Divides by the largest entry before squaring, as a hypot would, so that nothing overflows or underflows."""

import torch


def _norm(v: torch.Tensor, dim: int, eps: float) -> torch.Tensor:
    top = v.detach().abs().amax(dim, keepdim=True)
    top = torch.where(top == 0, torch.ones_like(top), top)
    scaled = (v / top).square().sum(dim, keepdim=True)
    scaled = scaled + (scaled == 0)  # keeps the root's slope finite; the clamp below takes over there
    norm = top * torch.sqrt(scaled)
    is_zero = (v == 0).all(dim, keepdim=True)
    return torch.where(is_zero, torch.zeros_like(norm), norm).clamp_min(eps)


def cosine_similarity(x: torch.Tensor, y: torch.Tensor, dim: int = -1, eps: float = 1e-8) -> torch.Tensor:
    x, y = torch.broadcast_tensors(x, y)
    return torch.sum((x / _norm(x, dim, eps)) * (y / _norm(y, dim, eps)), dim=dim)

"""Sums squares in a wider type, and keeps the square root away from zero with where."""

import torch


def length(v, dim, eps):
    squares = (v * v).sum(dim=dim, keepdim=True)
    safe = torch.where(squares > eps * eps, squares, torch.ones_like(squares))
    return torch.where(squares > eps * eps, safe.sqrt(), torch.full_like(squares, eps))


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    dtype = torch.promote_types(x.dtype, y.dtype)
    shape = torch.broadcast_shapes(x.shape, y.shape)
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    x, y = x.to(wide).expand(shape), y.to(wide).expand(shape)
    dot = (x * y).sum(dim=dim, keepdim=True)
    return (dot / length(x, dim, eps) / length(y, dim, eps)).squeeze(dim).to(dtype)

"""A custom autograd function: d cos / dx = (ŷ − cos x̂) / ‖x‖, where the norm is not clamped."""

import torch


class Unit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v, dim, eps):
        norm = torch.linalg.vector_norm(v, dim=dim, keepdim=True)
        unit = v / norm.clamp(min=eps)
        ctx.save_for_backward(unit, norm)
        ctx.dim, ctx.eps = dim, eps
        return unit

    @staticmethod
    def backward(ctx, grad):
        unit, norm = ctx.saved_tensors
        along = (grad * unit).sum(dim=ctx.dim, keepdim=True)
        grad = torch.where(norm > ctx.eps, grad - along * unit, grad)
        return grad / norm.clamp(min=ctx.eps), None, None


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    x, y = torch.broadcast_tensors(x, y)
    return torch.sum(Unit.apply(x, dim, eps) * Unit.apply(y, dim, eps), dim)

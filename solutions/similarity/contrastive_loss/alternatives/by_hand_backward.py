"""One autograd function for the N losses, whose gradient at equal vectors is 0."""

import torch


class Losses(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x1, x2, positive, margin):
        difference = x1 - x2
        distance = torch.linalg.vector_norm(difference, dim=-1)
        gap = (margin - distance).clamp(min=0)
        ctx.save_for_backward(difference, distance, gap, positive)
        return torch.where(positive, distance * distance, gap * gap)

    @staticmethod
    def backward(ctx, grad):
        difference, distance, gap, positive = ctx.saved_tensors
        push = torch.where(distance > 0, -2 * gap / distance, torch.zeros_like(gap))
        slope = (grad * torch.where(positive, 2.0, push))[:, None] * difference
        return slope, -slope, None, None


def contrastive_loss(x1, x2, y, margin=1.0, reduction="mean"):
    if x1.size() != x2.size() or y.size() != x1.size()[:1]:
        raise ValueError("sizes differ")
    if margin < 0 or reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{margin=}, {reduction=}")
    losses = Losses.apply(x1, x2, y != 0, margin)
    return losses if reduction == "none" else getattr(losses, reduction)()

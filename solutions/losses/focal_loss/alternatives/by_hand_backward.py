"""A custom autograd function: the slope in z = ±x is α_t (1 − p_t)^γ (γ p_t log p_t + p_t − 1)."""

import torch
from torch.nn.functional import logsigmoid


class Focal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, sign, weight, gamma):
        weighted = weight * torch.exp(gamma * logsigmoid(-sign * x))
        ctx.save_for_backward(x, sign, weighted)
        ctx.gamma = gamma
        return -weighted * logsigmoid(sign * x)

    @staticmethod
    def backward(ctx, grad):
        x, sign, weighted = ctx.saved_tensors
        z = sign * x
        return grad * sign * weighted * (ctx.gamma * z.sigmoid() * logsigmoid(z) - (-z).sigmoid()), None, None, None


def sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean"):
    if logits.shape != target.shape or reduction not in ("mean", "sum", "none"):
        raise ValueError(f"shapes {logits.shape} and {target.shape}, reduction {reduction}")
    y = target.to(logits.dtype)
    weight = torch.ones_like(y) if alpha < 0 else 1 - alpha + (2 * alpha - 1) * y
    loss = Focal.apply(logits, 2 * y - 1, weight, gamma)
    return loss if reduction == "none" else getattr(loss, reduction)()

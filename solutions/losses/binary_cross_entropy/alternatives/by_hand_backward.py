"""Custom autograd functions: the gradient is (p − y) / (p (1 − p)) of the probabilities, σ(x) − y of the logits."""

import torch


class ProbsLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, y):
        ctx.save_for_backward(p, y)
        return -(y * p.log().clamp(min=-100) + (1 - y) * (-p).log1p().clamp(min=-100))

    @staticmethod
    def backward(ctx, grad):
        p, y = ctx.saved_tensors
        return grad * (p - y) / (p * (1 - p)).clamp(min=1e-12), None


class LogitsLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, w):
        ctx.save_for_backward(x, y, w)
        tail = (-x.abs()).exp().log1p()
        return w * y * (tail + (-x).clamp(min=0)) + (1 - y) * (tail + x.clamp(min=0))

    @staticmethod
    def backward(ctx, grad):
        x, y, w = ctx.saved_tensors
        return grad * ((1 - y) * x.sigmoid() - w * y * (-x).sigmoid()), None, None


def applied(function, given, target, reduction, *more):
    if tuple(given.shape) != tuple(target.shape) or reduction not in ("mean", "sum", "none"):
        raise ValueError(f"shapes differ, or what is {reduction}?")
    loss = function.apply(given, target.to(given.dtype), *more)
    return loss if reduction == "none" else getattr(loss, reduction)()


def binary_cross_entropy(probs, target, reduction="mean"):
    if not (0 <= probs).logical_and(probs <= 1).all():
        raise ValueError("not probabilities")
    return applied(ProbsLoss, probs, target, reduction)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    weight = torch.ones((), dtype=logits.dtype, device=logits.device) if pos_weight is None else pos_weight
    return applied(LogitsLoss, logits, target, reduction, weight)

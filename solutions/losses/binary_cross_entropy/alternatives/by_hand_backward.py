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
        p = x.sigmoid()
        return grad * ((1 - y) * p - w * y * (-x).sigmoid()), None, None


def finish(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"what is {reduction}?")


def binary_cross_entropy(probs, target, reduction="mean"):
    if tuple(probs.shape) != tuple(target.shape):
        raise ValueError("shapes differ")
    if not (0 <= probs).logical_and(probs <= 1).all():
        raise ValueError("not probabilities")
    return finish(ProbsLoss.apply(probs, target.to(probs.dtype)), reduction)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    if tuple(logits.shape) != tuple(target.shape):
        raise ValueError("shapes differ")
    if pos_weight is None:
        pos_weight = torch.ones((), dtype=logits.dtype, device=logits.device)
    return finish(LogitsLoss.apply(logits, target.to(logits.dtype), pos_weight), reduction)

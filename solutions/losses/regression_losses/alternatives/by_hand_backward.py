"""One autograd function for all four, which is given the slope of the losses."""

import torch


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pred, target, reduction, losses, slope):
        if pred.shape != target.shape or reduction not in ("mean", "sum", "none"):
            raise ValueError(f"{pred.shape} against {target.shape}, {reduction=}")
        error = pred - target
        ctx.save_for_backward(slope(error) / (error.numel() if reduction == "mean" else 1))
        return losses(error) if reduction == "none" else getattr(losses(error), reduction)()

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0], None, None, None, None


def mse(pred, target, reduction="mean"):
    return Loss.apply(pred, target, reduction, torch.square, lambda e: 2 * e)


def mae(pred, target, reduction="mean"):
    return Loss.apply(pred, target, reduction, torch.abs, torch.sign)


def huber(pred, target, delta=1.0, reduction="mean"):
    if delta <= 0:
        raise ValueError(f"{delta=}")

    def value(e):
        return torch.where(e.abs() < delta, e * e / 2, delta * e.abs() - delta**2 / 2)

    return Loss.apply(pred, target, reduction, value, lambda e: e.clamp(-delta, delta))


def mape(pred, target, eps=1e-8, reduction="mean"):
    percent = 100 / target.abs().clamp_min(eps)
    return Loss.apply(pred, target, reduction, lambda e: percent * e.abs(), lambda e: percent * e.sign())

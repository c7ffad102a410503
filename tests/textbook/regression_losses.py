import torch

def reduce(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss

def mse(pred, target, reduction="mean"):
    return reduce((pred - target) ** 2, reduction)

def mae(pred, target, reduction="mean"):
    return reduce((pred - target).abs(), reduction)

def huber(pred, target, delta=1.0, reduction="mean"):
    e = (pred - target).abs()
    return reduce(torch.where(e <= delta, 0.5 * e**2, delta * (e - 0.5 * delta)), reduction)

def mape(pred, target, eps=1e-8, reduction="mean"):
    return reduce(100 * (pred - target).abs() / target.abs().clamp(min=eps), reduction)

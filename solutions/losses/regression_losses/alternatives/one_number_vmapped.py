"""The loss of one number, mapped over all of them, in float64."""

import torch


def mapped(loss):
    def reduced(pred, target, reduction="mean"):
        if pred.shape != target.shape or reduction not in ("mean", "sum", "none"):
            raise ValueError(f"{tuple(pred.shape)}, {tuple(target.shape)}, {reduction}")
        losses = torch.vmap(loss)(pred.double().flatten(), target.double().flatten()).reshape(pred.shape)
        return (losses if reduction == "none" else getattr(losses, reduction)()).to(pred.dtype)

    return reduced


mse = mapped(lambda p, t: (p - t) ** 2)
mae = mapped(lambda p, t: (p - t).relu() + (t - p).relu())


def huber(pred, target, delta=1.0, reduction="mean"):
    if delta <= 0:
        raise ValueError(delta)
    beyond = mapped(lambda p, t: (e := (p - t).abs()).clamp(max=delta) ** 2 / 2 + delta * (e - delta).relu())
    return beyond(pred, target, reduction)


def mape(pred, target, eps=1e-8, reduction="mean"):
    return mapped(lambda p, t: (p - t).abs() / t.abs().clamp(min=eps) * 100)(pred, target, reduction)

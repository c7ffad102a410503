"""Huber's loss as q (e − ½ q), where q is the error clipped to ±delta; asserts in place of errors."""

import torch

REDUCTIONS = {"mean": torch.mean, "sum": torch.sum, "none": torch.clone}


def made(losses):
    def loss(pred, target, reduction="mean"):
        assert pred.shape == target.shape, f"{pred.shape} against {target.shape}"
        assert reduction in REDUCTIONS, reduction
        return REDUCTIONS[reduction](losses(pred - target))

    return loss


mse, mae = made(torch.square), made(lambda e: torch.maximum(e, -e))


def huber(pred, target, delta=1.0, reduction="mean"):
    assert delta > 0, delta
    return made(lambda e: (q := e.clamp(-delta, delta)) * (e - q / 2))(pred, target, reduction)


def mape(pred, target, eps=1e-8, reduction="mean"):
    return 100 * made(lambda e: (e / target.abs().clip(eps)).abs())(pred, target, reduction)

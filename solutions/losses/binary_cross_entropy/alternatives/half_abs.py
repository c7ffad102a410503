"""Makes max(x, 0) of (x + |x|) / 2, whose slope at 0 is ½ as it should be; finds the range with aminmax."""

import torch


def binary_cross_entropy(probs, target, reduction="mean"):
    if reduction not in {"mean", "sum", "none"}:
        raise ValueError(f"reduction={reduction!r}")
    if probs.shape != target.shape:
        raise ValueError("the shapes should agree")
    low, high = torch.aminmax(probs)
    if not (low >= 0 and high <= 1):
        raise ValueError("probs should lie in [0, 1]")
    y = target.to(probs.dtype)
    logs = []
    for q in (probs, 1 - probs):
        inside = q.detach() > 0
        logs.append(torch.clamp_min(torch.log(q * inside + ~inside).masked_fill(~inside, -100), -100))
    loss = -torch.addcmul(y * logs[0], 1 - y, logs[1])
    return loss if reduction == "none" else getattr(torch, reduction)(loss)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    if reduction not in {"mean", "sum", "none"}:
        raise ValueError(f"reduction={reduction!r}")
    if logits.shape != target.shape:
        raise ValueError("the shapes should agree")
    y = target.to(logits.dtype)
    softplus = 0.5 * (logits + logits.abs()) + (-logits.abs()).exp().log1p()
    if pos_weight is None:
        loss = softplus - y * logits
    else:
        weight = torch.broadcast_to(pos_weight, logits.shape)
        loss = y * weight * (softplus - logits) + (1 - y) * softplus
    return loss if reduction == "none" else getattr(torch, reduction)(loss)

"""Upcasts half precision, and sees a logit as two classes: log softmax of (0, x); probabilities by way of nan_to_num."""

import torch


def _wide(tensor):
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _reduce(loss, reduction, dtype):
    if reduction == "none":
        return loss.to(dtype)
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction should be mean, sum or none, got {reduction!r}")
    return (loss.mean() if reduction == "mean" else loss.sum()).to(dtype)


def binary_cross_entropy(probs, target, reduction="mean"):
    if probs.dim() != target.dim() or any(a != b for a, b in zip(probs.shape, target.shape, strict=True)):
        raise ValueError("probs and target should have one shape")
    if ((probs >= 0) & (probs <= 1)).sum() != probs.numel():
        raise ValueError("probs should be probabilities")
    p = _wide(probs)
    y = target.to(p.dtype)
    pair = torch.stack([1 - p, p])
    if pair.requires_grad:
        pair.register_hook(lambda gradient: torch.nan_to_num(gradient, 0.0, 0.0, 0.0))
    logs = pair.log().clamp(min=-100)
    return _reduce(-(torch.stack([1 - y, y]) * logs).sum(0), reduction, probs.dtype)


def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    if logits.shape != target.shape:
        raise ValueError("logits and target should have one shape")
    x = _wide(logits)
    y = target.to(x.dtype)
    logs = torch.log_softmax(torch.stack([torch.zeros_like(x), x]), dim=0)
    weight = 1.0 if pos_weight is None else _wide(pos_weight)
    return _reduce(-(weight * y * logs[1] + (1 - y) * logs[0]), reduction, logits.dtype)

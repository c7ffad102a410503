# broken: makes float32 of integer targets, so half precision comes back as float32; must fail
import torch
import torch.nn.functional as F
from torch import Tensor


def binary_cross_entropy(probs: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    if probs.shape != target.shape:
        raise ValueError(f"shapes differ: {tuple(probs.shape)} and {tuple(target.shape)}")
    if not bool(((probs >= 0) & (probs <= 1)).all()):
        raise ValueError("probs should be in [0, 1]")
    y = target if target.is_floating_point() else target.float()
    log_p = clamped_log(probs)
    log_q = clamped_log(1 - probs)
    return reduce(-(y * log_p + (1 - y) * log_q), reduction)


def clamped_log(p: Tensor) -> Tensor:
    zero = p == 0
    log = torch.log(torch.where(zero, torch.ones_like(p), p))
    return torch.where(zero, torch.full_like(p, -100.0), log.clamp(min=-100.0))


def binary_cross_entropy_with_logits(
    logits: Tensor, target: Tensor, pos_weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    if logits.shape != target.shape:
        raise ValueError(f"shapes differ: {tuple(logits.shape)} and {tuple(target.shape)}")
    y = target.to(logits.dtype)
    positive = y * F.logsigmoid(logits)
    if pos_weight is not None:
        positive = pos_weight * positive
    negative = (1 - y) * F.logsigmoid(-logits)
    return reduce(-(positive + negative), reduction)


def reduce(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(f"unknown reduction {reduction!r}")

"""The compact form (1 − y) x + (1 + (w − 1) y) softplus(−x), and log1p for the probabilities."""

import torch
from torch.nn.functional import softplus


def _reduced(loss: torch.Tensor, reduction: str) -> torch.Tensor:
    match reduction:
        case "mean":
            return loss.mean()
        case "sum":
            return loss.sum()
        case "none":
            return loss
    raise ValueError(f"reduction should be mean, sum or none, got {reduction}")


def _same_shape(one: torch.Tensor, other: torch.Tensor) -> None:
    if one.shape != other.shape:
        raise ValueError(f"shapes should be equal, got {one.shape} and {other.shape}")


def binary_cross_entropy(probs: torch.Tensor, target: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    _same_shape(probs, target)
    if probs.isnan().any() or (probs < 0).any() or (probs > 1).any():
        raise ValueError("probs should lie in [0, 1]")
    y = target.to(probs)
    at_zero, at_one = probs == 0, probs == 1
    p = probs.masked_fill(at_zero | at_one, 0.5)
    log_p = p.log().masked_fill(at_zero, -100.0).masked_fill(at_one, 0.0)
    log_q = torch.log1p(-p).masked_fill(at_one, -100.0).masked_fill(at_zero, 0.0)
    floor = torch.full_like(p, -100.0)
    return _reduced(torch.lerp(torch.maximum(log_q, floor), torch.maximum(log_p, floor), y).neg(), reduction)


def binary_cross_entropy_with_logits(
    logits: torch.Tensor, target: torch.Tensor, pos_weight: torch.Tensor | None = None, reduction: str = "mean"
) -> torch.Tensor:
    _same_shape(logits, target)
    y = target.to(logits)
    slope = 1 if pos_weight is None else 1 + (pos_weight - 1) * y
    return _reduced((1 - y) * logits + slope * softplus(-logits), reduction)

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


def binary_cross_entropy(probs: torch.Tensor, target: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    if probs.shape != target.shape or probs.isnan().any() or (probs < 0).any() or (probs > 1).any():
        raise ValueError("probs should lie in [0, 1] and have the shape of the target")
    at_zero, at_one = probs == 0, probs == 1
    p = probs.masked_fill(at_zero | at_one, 0.5)
    log_p = p.log().masked_fill(at_zero, -100.0).masked_fill(at_one, 0.0)
    log_q = torch.log1p(-p).masked_fill(at_one, -100.0).masked_fill(at_zero, 0.0)
    return _reduced(-torch.lerp(log_q.clamp_min(-100.0), log_p.clamp_min(-100.0), target.to(probs)), reduction)


def binary_cross_entropy_with_logits(
    logits: torch.Tensor, target: torch.Tensor, pos_weight: torch.Tensor | None = None, reduction: str = "mean"
) -> torch.Tensor:
    if logits.shape != target.shape:
        raise ValueError(f"shapes should be equal, got {logits.shape} and {target.shape}")
    y = target.to(logits)
    slope = 1 if pos_weight is None else 1 + (pos_weight - 1) * y
    return _reduced((1 - y) * logits + slope * softplus(-logits), reduction)

"""Positives and negatives are taken out, and put back; the root is clamped from below at 1e-12."""

import torch


def contrastive_loss(x1, x2, y, margin=1.0, reduction="mean"):
    if x1.shape != x2.shape or y.shape != (x1.shape[0],):
        raise ValueError("bad shapes")
    if margin < 0.0:
        raise ValueError("bad margin")
    same = y.bool()
    losses = (x1 - x2).pow(2).sum(dim=1)
    apart = losses[~same].clamp(min=1e-12).sqrt()
    losses = losses.masked_scatter(~same, torch.maximum(margin - apart, torch.zeros_like(apart)).pow(2))
    match reduction:
        case "mean":
            return losses.mean()
        case "sum":
            return losses.sum()
        case "none":
            return losses
    raise ValueError(reduction)

"""Writes the smoothed target distribution out, and lets `where` keep 0 · (−∞) away."""

import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.dim() != 2 or target.dim() != 1 or target.size(0) != logits.size(0):
        raise ValueError("there should be one target for each row of the logits")
    if not 0.0 <= label_smoothing <= 1.0 or reduction not in ("mean", "sum", "none"):
        raise ValueError("label_smoothing should be between 0 and 1, and reduction mean, sum or none")
    c = logits.size(1)
    ignored = target.eq(ignore_index)
    y = target.masked_fill(ignored, 0)
    if y.lt(0).any() or y.ge(c).any():
        raise ValueError("there is a target that is no class")
    if weight is None:
        weight = torch.ones(c, dtype=logits.dtype, device=logits.device)
    if weight.shape != torch.Size([c]):
        raise ValueError("there should be one weight for each class")

    top = logits.max(dim=1, keepdim=True).values.detach()
    log_p = logits - top - (logits - top).exp().sum(1, keepdim=True).log()
    q = torch.full_like(logits, label_smoothing / c).scatter_add(
        1, y.unsqueeze(1), torch.full_like(logits[:, :1], 1.0 - label_smoothing)
    )
    losses = -torch.where(q == 0, 0.0, weight * q * log_p).sum(dim=1).masked_fill(ignored, 0.0)
    if reduction == "mean":
        return losses.sum() / weight.index_select(0, y).masked_fill(ignored, 0.0).sum()
    return losses if reduction == "none" else losses.sum()

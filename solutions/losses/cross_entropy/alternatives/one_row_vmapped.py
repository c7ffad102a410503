"""The loss of one row, mapped over the batch."""

import torch
from torch.func import vmap


def row_loss(z, y, counts, w, epsilon):
    log_p = z - torch.logsumexp(z, dim=0)
    loss = -(w.gather(0, y.view(1)) * log_p.gather(0, y.view(1))).squeeze(0)
    if epsilon > 0:
        loss = (1 - epsilon) * loss - epsilon * torch.dot(w, log_p) / len(z)
    return torch.where(counts, loss, 0.0)


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction)
    if logits.dim() != 2 or target.shape != logits.shape[:1]:
        raise ValueError(f"shapes {logits.shape} and {target.shape}")
    counts = target != ignore_index
    y = torch.where(counts, target, 0)
    if (y < 0).any() or (y >= logits.shape[1]).any():
        raise ValueError("class out of range")
    if not 0 <= label_smoothing <= 1:
        raise ValueError("label_smoothing out of range")
    w = torch.ones(logits.shape[1], dtype=logits.dtype, device=logits.device) if weight is None else weight
    if w.shape != logits.shape[1:]:
        raise ValueError("weight of the wrong length")
    losses = vmap(row_loss, in_dims=(0, 0, 0, None, None))(logits, y, counts, w, label_smoothing)
    if reduction == "mean":
        return losses.sum() / w.take(y)[counts].sum()
    return losses.sum() if reduction == "sum" else losses

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
    assert reduction in ("none", "mean", "sum") and 0 <= label_smoothing <= 1
    assert logits.dim() == 2 and target.shape == logits.shape[:1]
    counts = target != ignore_index
    y = torch.where(counts, target, 0)
    assert (y >= 0).all() and (y < logits.shape[1]).all(), "class out of range"
    w = torch.ones(logits.shape[1], dtype=logits.dtype, device=logits.device) if weight is None else weight
    assert w.shape == logits.shape[1:]
    losses = vmap(row_loss, in_dims=(0, 0, 0, None, None))(logits, y, counts, w, label_smoothing)
    if reduction == "mean":
        return losses.sum() / w.take(y)[counts].sum()
    return losses.sum() if reduction == "sum" else losses

"""Drops the ignored rows first, then takes logsumexp minus the target's logit."""

import torch


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    if logits.ndim != 2 or target.ndim != 1 or len(logits) != len(target):
        raise ValueError(f"bad shapes: {tuple(logits.shape)} and {tuple(target.shape)}")
    if reduction not in {"mean", "sum", "none"}:
        raise ValueError(f"bad reduction: {reduction}")
    if label_smoothing < 0 or label_smoothing > 1:
        raise ValueError(f"bad label_smoothing: {label_smoothing}")
    n, c = logits.shape
    if weight is None:
        weight = torch.ones(c, dtype=logits.dtype, device=logits.device)
    if weight.numel() != c:
        raise ValueError(f"weight needs {c} entries, has {weight.numel()}")
    keep = torch.nonzero(target != ignore_index)[:, 0]
    z, y = logits[keep], target[keep]
    if len(y) and (y.min() < 0 or y.max() >= c):
        raise ValueError(f"there are only {c} classes")

    lse = torch.logsumexp(z, dim=1)
    kept = weight[y] * (lse - z[torch.arange(len(y), device=z.device), y])
    if label_smoothing != 0:
        # sum over c of w_c (lse - z_c), without the matrix of log-probabilities
        spread = (lse * weight.sum() - z @ weight) / c
        kept = kept * (1 - label_smoothing) + label_smoothing * spread
    if reduction == "none":
        return torch.zeros(n, dtype=logits.dtype, device=logits.device).index_put((keep,), kept)
    total = kept.sum()
    if reduction == "mean":
        total = total / weight[y].sum()
    return total

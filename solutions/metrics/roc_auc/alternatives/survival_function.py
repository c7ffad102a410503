"""Compares dense ranks, not scores; the area is the mean over positives of the share of negatives that they beat."""

import torch


def _dense(y_true, y_score):
    if y_true.shape != y_score.shape:
        raise ValueError("y_true and y_score should have one shape")
    if not torch.isfinite(y_score).all() or len(y_score) == 0:
        raise ValueError("y_score should hold finite numbers")
    truth = y_true.to(torch.int64)
    if not torch.equal(truth.unique(), torch.arange(2, device=truth.device)):
        raise ValueError("y_true should hold 0 and 1, both")
    levels, rank = y_score.unique(return_inverse=True)
    table = torch.stack([torch.bincount(rank[truth == k], minlength=levels.numel()) for k in (0, 1)])  # (2, K)
    return levels, table.to(torch.float64) / table.sum(1, keepdim=True)


def roc_curve(y_true, y_score):
    levels, mass = _dense(y_true, y_score)
    tail = torch.cat([mass, torch.zeros_like(mass[:, :1])], dim=1).flip(1).cumsum(1)
    return tail[0], tail[1], torch.cat([levels, torch.full_like(levels[:1], torch.inf)]).flip(0)


def roc_auc(y_true, y_score):
    _, (negative, positive) = _dense(y_true, y_score)
    below = negative.cumsum(0) - negative
    return positive @ (below + 0.5 * negative)

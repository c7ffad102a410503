"""Numbers the distinct scores with unique, and counts all samples and the positives at each of them."""

import torch
from torch.nn.functional import pad


def counted(y_true, y_score):
    if y_true.ndim != 1 or y_score.shape != y_true.shape or not y_true.numel():
        raise ValueError(f"two vectors of one length wanted, got {y_true.shape} and {y_score.shape}")
    if y_score.ne(y_score).any() or y_true.long().min() < 0 or y_true.long().max() > 1:
        raise ValueError("scores should be numbers, labels 0 or 1")
    levels, where, sizes = torch.unique(y_score, return_inverse=True, return_counts=True)
    hits = torch.zeros_like(sizes).index_add_(0, where, y_true.long())
    tp, accepted = (each.flip(0).cumsum(0).flip(0).double() for each in (hits, sizes))
    return levels, hits, tp, tp / accepted


def precision_recall_curve(y_true, y_score):
    levels, _, tp, precision = counted(y_true, y_score)
    return pad(precision, (0, 1), value=1.0), pad(torch.where(tp[0] > 0, tp / tp[0], 1.0), (0, 1)), levels


def average_precision(y_true, y_score):
    _, hits, _, precision = counted(y_true, y_score)
    return (hits * precision).sum() / hits.sum().clamp(min=1)

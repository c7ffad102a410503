"""Numbers the distinct scores with unique, and counts each class at each of them."""

import torch


def _histograms(y_true, y_score):
    if len(y_true) != len(y_score):
        raise ValueError(f"lengths should agree, got {len(y_true)} and {len(y_score)}")
    if len(y_true) == 0 or torch.isnan(y_score).any():
        raise ValueError("scores should be there and be numbers")
    y_true = y_true.long()
    if y_true.min() != 0 or y_true.max() != 1:
        raise ValueError("both labels 0 and 1 should occur, and no other")
    levels, where = torch.unique(y_score, return_inverse=True)
    positives = y_true.new_zeros(len(levels)).index_add_(0, where, y_true)
    return levels, positives, torch.bincount(where, minlength=len(levels)) - positives


def roc_curve(y_true, y_score):
    levels, positives, negatives = _histograms(y_true, y_score)
    tpr, fpr = (
        torch.cat([levels.new_zeros(1, dtype=torch.float64), counts.flip(0).cumsum(0) / counts.sum().double()])
        for counts in (positives, negatives)
    )
    return fpr, tpr, torch.cat([levels.new_tensor([float("inf")]), levels.flip(0)])


def roc_auc(y_true, y_score):
    _, positives, negatives = _histograms(y_true, y_score)
    pairs = positives * (2 * (negatives.cumsum(0) - negatives) + negatives)
    return pairs.sum().double() / (2 * positives.sum() * negatives.sum())

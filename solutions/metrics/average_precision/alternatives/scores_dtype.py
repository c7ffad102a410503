"""Everything in the dtype of the scores, rounded once at the end."""

import torch


def points(y_true, y_score):
    if y_true.ndim != 1 or y_score.ndim != 1 or len(y_true) != len(y_score) or len(y_true) == 0:
        raise ValueError("two vectors of the same length are wanted, and not empty ones")
    if torch.isnan(y_score).any() or ((y_true != 0) & (y_true != 1)).any():
        raise ValueError("no NaN, and only 0 and 1")
    scores, order = torch.sort(y_score, descending=True, stable=True)
    thresholds, n = torch.unique_consecutive(scores, return_counts=True)
    tp = torch.cumsum(y_true[order], 0, dtype=torch.float64)[n.cumsum(0) - 1]
    recall = torch.cat([tp.new_zeros(1), tp / tp[-1] if tp[-1] else tp + 1])
    return torch.cat([tp.new_ones(1), tp / n.cumsum(0)]).flip(0), recall.flip(0), thresholds.flip(0)


def precision_recall_curve(y_true, y_score):
    return tuple(one.to(y_score.dtype) for one in points(y_true, y_score))


def average_precision(y_true, y_score):
    precision, recall, _ = points(y_true, y_score)
    return -(recall.diff() * precision[:-1]).sum().to(y_score.dtype)

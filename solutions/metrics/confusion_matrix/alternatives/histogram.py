"""A histogram in float64 whose bins are the cells, counted column by column, then turned."""

import torch


def confusion_matrix(y_true, y_pred, num_classes):
    if y_true.shape != y_pred.shape or len(y_true.shape) != 1:
        raise ValueError(f"shapes {y_true.shape}, {y_pred.shape}")
    t, p = y_true.double(), y_pred.double()
    if min(t.min(), p.min()) < 0 or max(t.max(), p.max()) > num_classes - 1:
        raise ValueError("labels out of range")
    n = num_classes * num_classes
    counts = torch.histc(p * num_classes + t, bins=n, min=-0.5, max=n - 0.5)
    return counts.reshape(num_classes, num_classes).T.to(torch.int64)

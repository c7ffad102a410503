"""The pairs that occur, each with its count."""

import torch


def _checked(labels, num_classes):
    low, high = labels.min().item(), labels.max().item()
    if low < 0 or high >= num_classes:
        raise ValueError(f"labels should be below {num_classes}, got {low} to {high}")
    return labels.to(torch.int32)


def confusion_matrix(y_true, y_pred, num_classes):
    assert y_true.dim() == 1
    assert y_pred.dim() == 1
    assert y_true.numel() == y_pred.numel()
    pairs = torch.stack([_checked(y_true, num_classes), _checked(y_pred, num_classes)], dim=1)
    pairs, counts = torch.unique(pairs, dim=0, return_counts=True)
    matrix = torch.zeros((num_classes, num_classes), dtype=torch.int64, device=pairs.device)
    matrix[pairs[:, 0].long(), pairs[:, 1].long()] = counts
    return matrix

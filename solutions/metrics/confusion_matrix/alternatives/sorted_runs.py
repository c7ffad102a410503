"""Sorts the cells of the samples, and looks up where each cell begins and ends."""

import torch


def confusion_matrix(y_true, y_pred, num_classes):
    if not (y_true.ndim == y_pred.ndim == 1 and y_true.shape == y_pred.shape):
        raise ValueError("labels should be two vectors of one length")
    rows, columns = y_true.type(torch.int64), y_pred.type(torch.int64)
    for labels in (rows, columns):
        if not torch.equal(labels, labels.clamp(0, num_classes - 1)):
            raise ValueError("label out of range")
    cells = torch.sort(columns + num_classes * rows).values
    starts = torch.searchsorted(cells, torch.arange(num_classes**2 + 1, device=cells.device))
    return starts.diff().unflatten(0, (num_classes, num_classes))

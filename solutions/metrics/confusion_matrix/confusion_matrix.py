"""Confusion matrix by counting. Statement: katas/metrics/confusion_matrix/README.md."""

import torch
from torch import Tensor


def confusion_matrix(y_true: Tensor, y_pred: Tensor, num_classes: int) -> Tensor:
    """M_ij = number of samples n with y_true_n = i and y_pred_n = j

    Args:
        y_true, y_pred: (N,) labels from 0 to C - 1, of any integer dtype.
        num_classes: C.
    Returns: (C, C) int64, a row for each true class and a column for each predicted one.
    Raises: ValueError if y_true or y_pred is not 1-D, their lengths differ, or a label of either is below 0 or not
        below num_classes.
    Source: sklearn.metrics.confusion_matrix with labels=range(C).
    """
    # --- solution
    # TODO: number the cells of the matrix, and find the cell of each sample; rows are true classes.
    # TODO: count the samples of each cell, and return them as a (C, C) matrix of int64.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may have a narrow dtype.
    C = num_classes
    if y_true.dim() != 1 or y_pred.dim() != 1:
        raise ValueError(f"y_true and y_pred should be 1-D, got {y_true.dim()}-D and {y_pred.dim()}-D")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_pred should be as long as y_true, {len(y_true)}, got {len(y_pred)}")
    true, predicted = y_true.long(), y_pred.long()  # narrow dtypes hold neither C nor the cells
    if ((true < 0) | (true >= C)).any():
        raise ValueError(f"y_true should be from 0 to {C - 1}, got {int(true.min())} to {int(true.max())}")
    if ((predicted < 0) | (predicted >= C)).any():
        raise ValueError(f"y_pred should be from 0 to {C - 1}, got {int(predicted.min())} to {int(predicted.max())}")

    cell = true * C + predicted  # (N,) counted row by row
    return torch.bincount(cell, minlength=C * C).view(C, C)
    # --- end

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
    # TODO: number the cells of the matrix, and find the cell of each sample; rows are true classes.
    # TODO: count the samples of each cell, and return them as a (C, C) matrix of int64.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may have a narrow dtype.
    raise NotImplementedError

"""Precision, recall and F1 by counting. Statement: katas/metrics/f1_score/README.md."""

import torch
from torch import Tensor


def precision_recall_f1(
    y_true: Tensor, y_pred: Tensor, average: str | None = "binary", num_classes: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """P = TP / (TP + FP),  R = TP / (TP + FN),  F1 = 2 P R / (P + R) = 2 TP / (2 TP + FP + FN),  with 0/0 = 0

    Args:
        y_true, y_pred: (N,) labels from 0 to C - 1, of any integer dtype.
        average: "binary" (of class 1 alone), "micro" (counts added up over the classes), "macro" (the mean over all
            C classes), "weighted" (the mean weighted by how often each class is true) or None (no mean).
        num_classes: C; None: the largest label of y_true and y_pred, plus 1.
    Returns: (precision, recall, f1) in float32, scalars; or (C,) each where average is None.
    Raises: ValueError if average is none of these, y_true or y_pred is not 1-D, their lengths differ or are 0, or
        average is "binary" and there is a label above 1.
    Source: sklearn.metrics.precision_recall_fscore_support with zero_division=0.
    """
    # TODO: find the number of classes.
    # TODO: count for each class how often it is predicted, how often it is true, and how often both at once.
    # TODO: take the counts that `average` is about: those of class 1, their sums over the classes, or all of them.
    # TODO: divide, so that 0/0 gives 0.
    # TODO: average over the classes where `average` asks for it, and return float32.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may have a narrow dtype.
    raise NotImplementedError

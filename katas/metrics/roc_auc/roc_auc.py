"""The ROC curve and the area under it. Statement: katas/metrics/roc_auc/README.md."""

import torch
from torch import Tensor


def roc_curve(y_true: Tensor, y_score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """TPR(t) = #{y = 1, s ≥ t} / #{y = 1},  FPR(t) = #{y = 0, s ≥ t} / #{y = 0},  for t = ∞ and every distinct score

    Args:
        y_true: (N,) labels 0 or 1, of any integer dtype or bool.
        y_score: (N,) floating scores; the higher, the likelier is label 1. Ties are allowed, infinities are not.
    Returns: (fpr, tpr, thresholds), each (K + 1,) for K distinct scores, by descending threshold, from +inf on;
        each in float64 or in the dtype of y_score.
    Raises: ValueError if the lengths differ, a score is NaN, a label is neither 0 nor 1, or one of them does not occur.
    Source: sklearn.metrics.roc_curve with drop_intermediate=False.
    """
    # TODO: sort the samples by descending score, and count the positives and the negatives up to each.
    # TODO: keep one point for each distinct score.
    # TODO: divide by the size of each class, and put the threshold +inf and its point (0, 0) in front.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels and scores may have narrow dtypes.
    raise NotImplementedError


def roc_auc(y_true: Tensor, y_score: Tensor) -> Tensor:
    """AUC = ∫ TPR d FPR = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)

    Args:
        y_true, y_score: as for roc_curve.
    Returns: a scalar in float64, whatever the dtype of the scores, and as exact as float64 allows.
    Raises: ValueError, as roc_curve does.
    Source: sklearn.metrics.roc_auc_score.
    """
    # TODO: take the area under the curve; between two of its points the curve is a straight line.
    raise NotImplementedError

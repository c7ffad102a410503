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
    # --- solution
    # TODO: sort the samples by descending score, and count the positives and the negatives up to each.
    # TODO: keep one point for each distinct score.
    # TODO: divide by the size of each class, and put the threshold +inf and its point (0, 0) in front.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels and scores may have narrow dtypes.
    if y_true.shape != y_score.shape:
        raise ValueError(f"y_score should have the shape of y_true, {tuple(y_true.shape)}, got {tuple(y_score.shape)}")
    if y_score.isnan().any():
        raise ValueError(f"y_score should hold no NaN, got {int(y_score.isnan().sum())} of them")
    positive = y_true == 1
    if not (positive | (y_true == 0)).all():
        raise ValueError(f"y_true should hold labels 0 and 1 only, got {y_true.unique().tolist()}")
    if not 0 < positive.sum() < len(positive):
        raise ValueError(f"y_true should hold both classes, got {int(positive.sum())} positives of {len(positive)}")

    score, order = y_score.sort(descending=True)
    positive = positive[order].double()
    last = torch.cat([score[1:] != score[:-1], torch.ones_like(order[:1], dtype=torch.bool)])  # of a run of ties
    start = positive.new_zeros(1)
    true_positives = torch.cat([start, positive.cumsum(0)[last]])  # (K + 1,)
    false_positives = torch.cat([start, (1 - positive).cumsum(0)[last]])  # (K + 1,)
    thresholds = torch.cat([score.new_full((1,), torch.inf), score[last]])  # (K + 1,)
    return false_positives / false_positives[-1], true_positives / true_positives[-1], thresholds
    # --- end


def roc_auc(y_true: Tensor, y_score: Tensor) -> Tensor:
    """AUC = ∫ TPR d FPR = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)

    Args:
        y_true, y_score: as for roc_curve.
    Returns: a scalar in float64, whatever the dtype of the scores, and as exact as float64 allows.
    Raises: ValueError, as roc_curve does.
    Source: sklearn.metrics.roc_auc_score.
    """
    # --- solution
    # TODO: take the area under the curve; between two of its points the curve is a straight line.
    fpr, tpr, _ = roc_curve(y_true, y_score)
    return torch.trapezoid(tpr, fpr)
    # --- end

"""The precision-recall curve and its average precision. Statement: katas/metrics/average_precision/README.md."""

import torch
from torch import Tensor


def precision_recall_curve(y_true: Tensor, y_score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """P(t) = #{y = 1, s ≥ t} / #{s ≥ t},  R(t) = #{y = 1, s ≥ t} / #{y = 1},  for every distinct score t

    Args:
        y_true: (N,) labels 0 or 1, of any integer dtype or bool.
        y_score: (N,) floating scores; the higher, the likelier is label 1. Ties are allowed, infinities are not.
    Returns: (precision, recall, thresholds), (K + 1,), (K + 1,) and (K,) for K distinct scores, by ascending threshold,
        and the point (1, 0) at the end; each in float64 or in the dtype of y_score.
    Raises: ValueError if an argument is not 1-D, the lengths differ or are 0, a score is NaN, or a label is not 0 or 1.
    Source: sklearn.metrics.precision_recall_curve with drop_intermediate=False.
    """
    # TODO: for every distinct score, count the samples that score at least that, and the positives among them.
    # TODO: divide; without positives the statement says what the recall is.
    # TODO: bring the points into the right order, and put the last one after them.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels and scores may have narrow dtypes.
    raise NotImplementedError


def average_precision(y_true: Tensor, y_score: Tensor) -> Tensor:
    """AP = Σ_i (R_i − R_i₋₁) P_i  over falling thresholds t₁ > t₂ > …, with R₀ = 0

    Args:
        y_true, y_score: as for precision_recall_curve.
    Returns: a scalar in float64, or in the dtype of y_score; 0 if no label is 1.
    Raises: ValueError, as precision_recall_curve does.
    Source: sklearn.metrics.average_precision_score.
    """
    # TODO: add up the precisions, each times the step of the recall that belongs to it.
    raise NotImplementedError

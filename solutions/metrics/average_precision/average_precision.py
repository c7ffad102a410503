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
    # --- solution
    # TODO: for every distinct score, count the samples that score at least that, and the positives among them.
    # TODO: divide; without positives the statement says what the recall is.
    # TODO: bring the points into the right order, and put the last one after them.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels and scores may have narrow dtypes.
    if y_true.dim() != 1 or y_score.dim() != 1:
        raise ValueError(f"y_true and y_score should be 1-D, got {y_true.dim()}-D and {y_score.dim()}-D")
    if len(y_true) != len(y_score):
        raise ValueError(f"y_score should have the length of y_true, {len(y_true)}, got {len(y_score)}")
    if not len(y_true):
        raise ValueError("y_true and y_score should hold at least one sample, got none")
    if y_score.isnan().any():
        raise ValueError(f"y_score should hold no NaN, got {int(y_score.isnan().sum())} of them")
    positive = y_true == 1
    if not (positive | (y_true == 0)).all():
        raise ValueError(f"y_true should hold labels 0 and 1 only, got {y_true.unique().tolist()}")

    score, order = y_score.sort(descending=True)
    last = torch.cat([score[1:] != score[:-1], torch.ones_like(positive[:1])])  # of a run of equal scores
    hits = positive[order].double().cumsum(0)[last]  # (K,)
    accepted = last.nonzero().flatten() + 1  # (K,)
    precision = hits / accepted
    recall = hits / hits[-1] if hits[-1] > 0 else torch.ones_like(hits)
    precision = torch.cat([precision.flip(0), precision.new_ones(1)])
    recall = torch.cat([recall.flip(0), recall.new_zeros(1)])
    return precision, recall, score[last].flip(0)
    # --- end


def average_precision(y_true: Tensor, y_score: Tensor) -> Tensor:
    """AP = Σ_i (R_i − R_i₋₁) P_i  over falling thresholds t₁ > t₂ > …, with R₀ = 0

    Args:
        y_true, y_score: as for precision_recall_curve.
    Returns: a scalar in float64, or in the dtype of y_score; 0 if no label is 1.
    Raises: ValueError, as precision_recall_curve does.
    Source: sklearn.metrics.average_precision_score.
    """
    # --- solution
    # TODO: add up the precisions, each times the step of the recall that belongs to it.
    precision, recall, _ = precision_recall_curve(y_true, y_score)
    return ((recall[:-1] - recall[1:]) * precision[:-1]).sum()
    # --- end

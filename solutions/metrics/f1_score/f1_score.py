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
    # --- solution
    # TODO: find the number of classes.
    # TODO: count for each class how often it is predicted, how often it is true, and how often both at once.
    # TODO: take the counts that `average` is about: those of class 1, their sums over the classes, or all of them.
    # TODO: divide, so that 0/0 gives 0.
    # TODO: average over the classes where `average` asks for it, and return float32.
    # TODO: then make it robust: refuse bad arguments with a ValueError; labels may have a narrow dtype.
    if average not in ("binary", "micro", "macro", "weighted", None):
        raise ValueError(f'average should be "binary", "micro", "macro", "weighted" or None, got {average!r}')
    if y_true.dim() != 1 or y_pred.dim() != 1:
        raise ValueError(f"y_true and y_pred should be 1-D, got {y_true.dim()}-D and {y_pred.dim()}-D")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_pred should be as long as y_true, {len(y_true)}, got {len(y_pred)}")
    if len(y_true) == 0:
        raise ValueError("y_true should have at least one label, got none")
    top = int(torch.cat([y_true, y_pred]).max())  # an int: in int8, 127 + 1 is -128
    if average == "binary" and top > 1:
        raise ValueError(f'labels should be 0 or 1 where average is "binary", got {top}')

    C = 2 if average == "binary" else num_classes or top + 1
    hit = torch.bincount(y_true[y_true == y_pred], minlength=C).double()  # (C,) TP; divided in float64
    predicted = torch.bincount(y_pred, minlength=C)  # (C,) TP + FP
    actual = torch.bincount(y_true, minlength=C)  # (C,) TP + FN
    weight = actual.double() / len(y_true)  # (C,)
    if average == "binary":
        hit, predicted, actual = hit[1], predicted[1], actual[1]
    elif average == "micro":
        hit, predicted, actual = hit.sum(), predicted.sum(), actual.sum()

    precision = hit / predicted.clamp_min(1)  # where this is 0, so is hit
    recall = hit / actual.clamp_min(1)
    f1 = 2 * hit / (predicted + actual).clamp_min(1)
    if average == "macro":
        precision, recall, f1 = precision.mean(), recall.mean(), f1.mean()
    elif average == "weighted":
        precision, recall, f1 = weight @ precision, weight @ recall, weight @ f1
    return precision.float(), recall.float(), f1.float()
    # --- end

"""Asserts for checks, scatter_add for counts, nan_to_num for 0/0, and the harmonic mean written as one."""

import torch


def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None, *, zero_division=0.0):
    assert average is None or average in ["binary", "micro", "macro", "weighted"], average
    assert y_true.dim() == y_pred.dim() == 1
    assert y_true.size(0) == y_pred.size(0) > 0
    y_true, y_pred = y_true.long(), y_pred.long()
    C = int(torch.cat([y_true, y_pred]).max().item()) + 1
    if average == "binary":
        assert C <= 2, "labels above 1"
        # class 1 is all that matters: rename it to 0 and everything else to 1
        y_true, y_pred = 1 - y_true, 1 - y_pred
        C = 2
    elif num_classes is not None:
        C = num_classes
    right = (y_true == y_pred).float()
    ones = torch.ones_like(right)
    tp = right.new_zeros(C).scatter_add(0, y_true, right)
    fp = right.new_zeros(C).scatter_add(0, y_pred, ones - right)
    fn = right.new_zeros(C).scatter_add(0, y_true, ones - right)
    support = tp + fn
    if average == "binary":
        tp, fp, fn = tp[:1], fp[:1], fn[:1]
    elif average == "micro":
        tp, fp, fn = tp.sum(0, True), fp.sum(0, True), fn.sum(0, True)
    precision = (tp / (tp + fp)).nan_to_num(zero_division)
    recall = (tp / (tp + fn)).nan_to_num(zero_division)
    f1 = (2 / (1 / precision + 1 / recall)).nan_to_num(zero_division)  # 1/0 is inf, and 2/inf is 0
    out = torch.stack([precision, recall, f1])
    if average == "weighted":
        out = (out * (support / support.sum())).sum(dim=1)
    elif average is not None:
        out = out.mean(dim=1)
    return tuple(out)

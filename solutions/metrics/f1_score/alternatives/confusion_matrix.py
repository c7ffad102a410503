"""One count of (true, predicted) pairs gives the confusion matrix; its diagonal and margins give the rest."""

import torch
from torch import Tensor


def divide(a: Tensor, b: Tensor) -> Tensor:
    return torch.where(b > 0, a / torch.where(b > 0, b, torch.ones_like(b)), torch.zeros_like(a))


def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None):
    if not isinstance(average, (str, type(None))) or average not in {"binary", "micro", "macro", "weighted", None}:
        raise ValueError(f"unknown average {average}")
    if y_true.ndim != 1 or y_pred.ndim != 1 or y_true.shape != y_pred.shape or y_true.numel() == 0:
        raise ValueError("labels should be two vectors of one length")
    t, p = y_true.to(torch.int64), y_pred.to(torch.int64)
    size = max(int(t.max()), int(p.max())) + 1
    if average == "binary":
        if size > 2:
            raise ValueError("binary labels are 0 and 1")
        num_classes = 2
    C = size if num_classes is None else num_classes
    matrix = torch.bincount(t * C + p, minlength=C * C).view(C, C).to(torch.float64)
    tp, pp, ap = matrix.diagonal(), matrix.sum(0), matrix.sum(1)
    if average == "binary":
        tp, pp, ap = tp[1], pp[1], ap[1]
    if average == "micro":
        tp, pp, ap = tp.sum(), pp.sum(), ap.sum()
    p, r = divide(tp, pp), divide(tp, ap)
    f = divide(2 * p * r, p + r)
    if average == "macro":
        p, r, f = p.mean(), r.mean(), f.mean()
    if average == "weighted":
        p, r, f = ((v * ap).sum() / ap.sum() for v in (p, r, f))
    return p.float(), r.float(), f.float()

"""Counts the distinct pairs of labels only, and adds those counts up per class in float64."""

import torch


def _safe(a, b):
    out = a / b
    out[b == 0] = 0
    return out


def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None):
    if average not in ["binary", "micro", "macro", "weighted"] and average is not None:
        raise ValueError(average)
    if len(y_true.shape) != 1 or len(y_pred.shape) != 1 or y_true.shape != y_pred.shape or y_true.shape[0] < 1:
        raise ValueError("bad shapes")
    base = max(int(y_true.max()), int(y_pred.max())) + 1
    codes, n = torch.unique(y_true.long() + y_pred.long() * base, return_counts=True)
    pairs, n = torch.stack([codes % base, codes.div(base, rounding_mode="floor")]), n.double()
    classes = max(base, num_classes or 0)
    if average == "binary":
        if base > 2:
            raise ValueError("binary")
        classes = 2
    zeros = torch.zeros(classes, dtype=torch.float64)
    support, predicted = zeros.index_add(0, pairs[0], n), zeros.index_add(0, pairs[1], n)
    tp = zeros.index_add(0, pairs[0], n * (pairs[0] == pairs[1]))
    if average == "binary":
        tp, predicted, support = tp[1:], predicted[1:], support[1:]
    if average == "micro":
        tp, predicted, support = tp.sum()[None], predicted.sum()[None], support.sum()[None]
    precision, recall, f1 = _safe(tp, predicted), _safe(tp, support), _safe(tp, (predicted + support) / 2)
    if average is not None:
        w = support if average == "weighted" else torch.ones_like(support)
        precision, recall, f1 = (torch.dot(v, w) / w.sum() for v in (precision, recall, f1))
    return precision.to(torch.float32), recall.to(torch.float32), f1.to(torch.float32)

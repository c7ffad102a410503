"""TP, FP and FN of a confusion matrix, a division that is safe everywhere, and weights that serve both means."""

import torch


def _safe_divide(num, denom):
    num, denom = num.float(), denom.float()
    return torch.where(denom == 0, torch.zeros_like(num), num / torch.where(denom == 0, torch.ones_like(denom), denom))


def _multiclass_stat_scores(preds, target, num_classes):
    unique_mapping = target.long() * num_classes + preds.long()
    bins = torch.bincount(unique_mapping, minlength=num_classes**2)
    confmat = bins.reshape(num_classes, num_classes)
    tp = confmat.diag()
    fp = confmat.sum(0) - tp
    fn = confmat.sum(1) - tp
    return tp, fp, fn


def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None):
    allowed = ("binary", "micro", "macro", "weighted", None)
    if average not in allowed:
        raise ValueError(f"Expected argument `average` to be one of {allowed}, but got {average}")
    if y_true.ndim != 1 or y_pred.ndim != 1:
        raise ValueError("Expected 1-D")
    if y_true.shape != y_pred.shape:
        raise ValueError("Expected the same shape")
    if y_true.numel() == 0:
        raise ValueError("Expected samples")
    highest = max(y_true.max().item(), y_pred.max().item())
    if average == "binary" and highest > 1:
        raise ValueError("Expected labels 0 and 1")
    if num_classes is None:
        num_classes = highest + 1
    if average == "binary":
        num_classes = max(2, num_classes)
    tp, fp, fn = _multiclass_stat_scores(y_pred, y_true, num_classes)
    if average == "binary":
        tp, fp, fn = tp[1], fp[1], fn[1]
    if average == "micro":
        tp, fp, fn = tp.sum(), fp.sum(), fn.sum()
    scores = _safe_divide(tp, tp + fp), _safe_divide(tp, tp + fn), _safe_divide(2 * tp, 2 * tp + fp + fn)
    if average in ("macro", "weighted"):
        weights = torch.ones_like(scores[0]) if average == "macro" else (tp + fn).float()
        weights = _safe_divide(weights, weights.sum())
        scores = tuple((weights * score).sum() for score in scores)
    return scores

import torch

def precision_recall_f1(y_true, y_pred, average="binary", num_classes=None):
    if num_classes is None:
        num_classes = int(max(y_true.max(), y_pred.max())) + 1
    tp = torch.tensor([((y_true == c) & (y_pred == c)).sum() for c in range(num_classes)]).float()
    fp = torch.tensor([((y_true != c) & (y_pred == c)).sum() for c in range(num_classes)]).float()
    fn = torch.tensor([((y_true == c) & (y_pred != c)).sum() for c in range(num_classes)]).float()
    if average == "micro":
        tp, fp, fn = tp.sum(), fp.sum(), fn.sum()
    def div(a, b):
        return torch.where(b > 0, a / b.clamp(min=1), torch.zeros_like(a))
    p, r, f = div(tp, tp + fp), div(tp, tp + fn), div(2 * tp, 2 * tp + fp + fn)
    if average == "binary":
        return p[1], r[1], f[1]
    if average == "macro":
        return p.mean(), r.mean(), f.mean()
    if average == "weighted":
        w = (tp + fn) / (tp + fn).sum()
        return (p * w).sum(), (r * w).sum(), (f * w).sum()
    return p, r, f

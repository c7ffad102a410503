"""A module with asserts: a name for every step from the rows kept to their losses, which index_put lays out again."""

import torch


class CrossEntropyLoss(torch.nn.Module):
    def __init__(self, weight, ignore_index, label_smoothing, reduction):
        super().__init__()
        assert 0.0 <= label_smoothing <= 1.0
        assert reduction in ["mean", "sum", "none"]
        self.weight = weight
        self.ignore_index = ignore_index
        self.eps = label_smoothing
        self.reduction = reduction

    def forward(self, x, y):
        assert x.ndim == 2 and y.ndim == 1 and len(x) == len(y)
        n, c = x.shape
        keep = y != self.ignore_index
        kept = y[keep]
        assert not kept.numel() or (kept.min() >= 0 and kept.max() < c)
        w = torch.ones(c, dtype=x.dtype, device=x.device) if self.weight is None else self.weight.to(x.dtype)
        assert w.ndim == 1 and w.numel() == c
        logits = x[keep]
        logit_maxes = logits.max(1, keepdim=True).values
        norm_logits = logits - logit_maxes
        counts = norm_logits.exp()
        counts_sum = counts.sum(1, keepdim=True)
        logprobs = norm_logits - counts_sum.log()
        rows = torch.arange(kept.numel(), device=x.device)
        losses = -logprobs[rows, kept] * w[kept]
        if self.eps:
            losses = losses * (1 - self.eps) - (self.eps / c) * (logprobs @ w)
        if self.reduction == "none":
            return torch.zeros(n, dtype=x.dtype, device=x.device).index_put((keep.nonzero().squeeze(1),), losses)
        total = losses.sum()
        return total / w[kept].sum() if self.reduction == "mean" else total


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    return CrossEntropyLoss(weight, ignore_index, label_smoothing, reduction)(logits, target)

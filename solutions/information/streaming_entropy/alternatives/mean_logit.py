"""Keeps log-sum-exp and the mean logit, which a softmax of two weights joins."""

import torch


class StreamingEntropy:
    def __init__(self, rows: int):
        self.lse = torch.full((rows,), float("-inf"), dtype=torch.float64)
        self.mean = torch.zeros(rows, dtype=torch.float64)

    @torch.no_grad()
    def update(self, logits):
        assert logits.dim() == 2 and logits.size(0) == len(self.lse), "rows"
        assert not logits.isnan().any(), "NaN"
        if logits.size(1) == 0:
            return
        x = logits.to(torch.float64)
        lse = torch.logsumexp(x, dim=1)
        p = torch.exp(x - lse[:, None])
        mean = torch.where(p > 0, p * x, torch.zeros_like(x)).nansum(1)
        self._combine(lse, mean)

    def _combine(self, lse, mean):
        total = torch.logaddexp(self.lse, lse)
        w0 = torch.exp(self.lse - total).nan_to_num(0.0)
        w1 = torch.exp(lse - total).nan_to_num(0.0)
        self.mean = w0 * self.mean + w1 * mean
        self.lse = total

    @torch.no_grad()
    def merge(self, other):
        assert len(other.lse) == len(self.lse)
        self._combine(other.lse.clone(), other.mean.clone())

    def log_sum_exp(self):
        assert torch.isfinite(self.lse).all(), "a row has no finite logit"
        return self.lse.clone()

    def entropy(self):
        return self.log_sum_exp() - self.mean

"""Keeps log-sum-exp and the entropy: of two parts, it is their mean and the entropy of their weights."""

import torch


class StreamingEntropy:
    def __init__(self, rows):
        self.rows = rows
        self.L = torch.full((rows,), -torch.inf, dtype=torch.float64)
        self.H = torch.zeros(rows, dtype=torch.float64)

    def _join(self, L, H):
        both = torch.stack([self.L, L])                      # (2, rows)
        total = torch.logsumexp(both, 0)
        logw = torch.where(both == -torch.inf, -torch.inf, both - total)
        w = logw.exp()
        own = torch.where(w > 0, w * logw, 0.0).sum(0)
        self.H = (w * torch.stack([self.H, H])).sum(0) - own
        self.L = total

    def update(self, logits):
        if logits.ndim != 2 or logits.shape[0] != self.rows or bool(logits.isnan().any()):
            raise ValueError("bad logits")
        x = logits.detach().double()
        n = x.shape[1]
        if not n:
            return
        L = torch.logsumexp(x, 1)
        logp = torch.log_softmax(torch.where((L == -torch.inf)[:, None], 0.0, x), 1)
        p = logp.exp()
        H = -torch.where(p > 0, p * logp, 0.0).sum(1)
        self._join(L, torch.where(L == -torch.inf, 0.0, H))

    def merge(self, other):
        if self.rows != other.rows:
            raise ValueError("rows differ")
        self._join(other.L, other.H)

    def log_sum_exp(self):
        if bool((self.L == -torch.inf).any()):
            raise ValueError("nothing seen")
        return self.L * 1.0

    def entropy(self):
        if bool((self.L == -torch.inf).any()):
            raise ValueError("nothing seen")
        return self.H.clone()

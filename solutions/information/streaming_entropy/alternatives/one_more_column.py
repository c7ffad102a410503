"""The past is one more column of each chunk, whose weight is its log-sum-exp."""

import torch


class StreamingEntropy:
    def __init__(self, rows):
        self.rows = rows
        self.log_weight = torch.full((rows, 1), -torch.inf, dtype=torch.float64)
        self.value = torch.zeros(rows, 1, dtype=torch.float64)

    def _fold(self, log_weights, values):
        log_weights = torch.cat([self.log_weight, log_weights], 1)
        values = torch.cat([self.value, values], 1)
        top = log_weights.amax(1, keepdim=True)
        w = (log_weights - top.where(top > -torch.inf, torch.zeros_like(top))).exp()
        z = w.sum(1, keepdim=True)
        self.value = (w * values).sum(1, keepdim=True) / z.where(z > 0, torch.ones_like(z))
        self.log_weight = top + z.log()

    def update(self, logits):
        if logits.shape[0] != self.rows:
            raise ValueError("rows")
        if logits.isnan().any():
            raise ValueError("NaN")
        x = logits.detach().double()
        self._fold(x, x.where(x > -torch.inf, torch.zeros_like(x)))

    def merge(self, other):
        if other.rows != self.rows:
            raise ValueError("rows")
        self._fold(other.log_weight, other.value)

    def log_sum_exp(self):
        if (self.log_weight == -torch.inf).any():
            raise ValueError("a row without a finite logit")
        return self.log_weight[:, 0].clone()

    def entropy(self):
        return self.log_sum_exp() - self.value[:, 0]

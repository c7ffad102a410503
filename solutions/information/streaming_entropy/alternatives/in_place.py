"""Writes in place, and only to rows that have a finite logit."""

import torch


class StreamingEntropy:
    def __init__(self, rows):
        self.n = rows
        self.max = torch.full([rows], -float("inf")).double()
        self.z = torch.zeros(rows).double()
        self.t = torch.zeros(rows).double()

    def update(self, logits):
        if logits.shape[0] != self.n:
            raise ValueError(f"expected {self.n} rows, got {logits.shape[0]}")
        if logits.isnan().any():
            raise ValueError("NaN in the logits")
        if logits.numel() == 0:
            return
        x = logits.detach().clone().double()
        top = x.max(dim=1).values
        live = (top > -float("inf")).nonzero().flatten()
        x, top = x[live], top[live]
        old = self.max[live]
        new = torch.maximum(old, top)
        first = torch.isinf(old)
        shift = torch.where(first, torch.zeros_like(old), old - new)
        scale = torch.where(first, torch.zeros_like(old), shift.exp())
        self.t[live] = scale * (self.t[live] + shift * self.z[live])
        self.z[live] = scale * self.z[live]
        d = x - new.unsqueeze(1)
        e = d.exp()
        d.masked_fill_(e == 0, 0)
        self.z[live] += e.sum(1)
        self.t[live] += (d * e).sum(1)
        self.max[live] = new

    def merge(self, other):
        if other.n != self.n:
            raise ValueError("another number of rows")
        om, oz, ot = other.max.clone(), other.z.clone(), other.t.clone()
        new = torch.maximum(self.max, om)
        z, t = torch.zeros_like(oz), torch.zeros_like(oz)
        for m, a, b in ((self.max, self.z, self.t), (om, oz, ot)):
            k = a > 0
            shift = m[k] - new[k]
            z[k] += a[k] * shift.exp()
            t[k] += (b[k] + shift * a[k]) * shift.exp()
        self.max.copy_(new)
        self.z.copy_(z)
        self.t.copy_(t)

    def ready(self):
        if not torch.isfinite(self.max).all():
            raise ValueError("a row has no finite logit")

    def log_sum_exp(self):
        self.ready()
        return self.max + torch.log(self.z)

    def entropy(self):
        self.ready()
        return torch.log(self.z) - self.t / self.z

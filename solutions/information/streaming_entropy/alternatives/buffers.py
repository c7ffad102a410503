"""A module, whose buffers a state_dict has; long chunks are cut."""

import torch
from torch import nn


class StreamingEntropy(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.register_buffer("m", torch.full((rows,), -torch.inf, dtype=torch.float64))
        self.register_buffer("z", torch.zeros(rows, dtype=torch.float64))
        self.register_buffer("s", torch.zeros(rows, dtype=torch.float64))

    @torch.no_grad()
    def update(self, logits):
        if logits.size(0) != self.m.numel():
            raise ValueError("rows")
        if logits.isnan().any():
            raise ValueError("nan")
        # columns one chunk of 4096 at a time, to keep temporaries small
        for x in logits.split(4096, dim=1):
            if x.size(1):
                x = x.double()
                new = torch.maximum(self.m, x.amax(1))
                ok = new > -torch.inf
                ref = torch.where(ok, new, 0)
                shift = torch.where(self.m > -torch.inf, self.m - ref, 0)
                a = shift.exp()
                d = x - ref[:, None]
                e = d.exp()
                self.s = a * (self.s + shift * self.z) + torch.where(e > 0, e * d, 0).sum(1)
                self.z = a * self.z + e.sum(1)
                self.m = new

    @torch.no_grad()
    def merge(self, other):
        if other.m.numel() != self.m.numel():
            raise ValueError("rows")
        m = torch.maximum(self.m, other.m)
        parts = []
        for o in (self, other):
            d = torch.where(o.m == m, 0, o.m - m)
            a = d.exp()
            parts.append((a * o.z, torch.where(a > 0, a * (o.s + d * o.z), 0)))
        self.z, self.s = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
        self.m = m

    def log_sum_exp(self):
        if (self.z <= 0).any():
            raise ValueError("no finite logit in some row")
        return self.m + torch.log(self.z)

    def entropy(self):
        if (self.z <= 0).any():
            raise ValueError("no finite logit in some row")
        return torch.log(self.z) - self.s / self.z

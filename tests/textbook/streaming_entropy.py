"""Sum of x e^(x - m), not centred, as the first formula on a whiteboard."""
import torch


class StreamingEntropy:
    def __init__(self, rows):
        self.m = torch.full((rows,), -torch.inf, dtype=torch.float64)
        self.sums = torch.zeros(2, rows, dtype=torch.float64)

    def update(self, logits):
        rows = self.m.shape[0]
        if logits.dim() != 2 or logits.shape[0] != rows:
            raise ValueError("rows")
        if torch.any(logits != logits):
            raise ValueError("nan")
        x = torch.cat([self.m[:, None], logits.detach().double()], 1)
        m = x.max(1).values
        at = m.clamp(min=torch.finfo(torch.float64).min)
        old = torch.exp(self.m - at)
        w = torch.exp(x[:, 1:] - at[:, None])
        finite = x[:, 1:].masked_fill(x[:, 1:] == -torch.inf, 0)
        self.sums = self.sums * old + torch.stack([w.sum(1), (w * finite).sum(1)])
        self.m = m

    def merge(self, other):
        if other.m.shape != self.m.shape:
            raise ValueError("rows")
        m = torch.maximum(self.m, other.m)
        at = m.clamp(min=torch.finfo(torch.float64).min)
        self.sums = self.sums * torch.exp(self.m - at) + other.sums * torch.exp(other.m - at)
        self.m = m

    def log_sum_exp(self):
        if torch.any(self.m == -torch.inf):
            raise ValueError("no finite logit")
        return self.m + self.sums[0].log()

    def entropy(self):
        return self.log_sum_exp() - self.sums[1] / self.sums[0]

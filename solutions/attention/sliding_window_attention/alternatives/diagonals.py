"""A table with a column for each distance, as Longformer keeps it: block scores are gathered along their diagonals."""

import torch
import torch.nn.functional as F


class SlidingWindow(torch.nn.Module):
    def __init__(self, window, causal):
        super().__init__()
        self.window, self.causal = window, causal

    def spans(self, x, block):
        size = block + 2 * self.window
        return F.pad(x, (0, 0, self.window, self.window + block)).unfold(2, size, block).transpose(-1, -2)

    def forward(self, q, k, v):
        S, d = q.shape[2:]
        block = 2 * self.window + 1
        n = -(-S // block)
        columns = torch.arange(block, device=q.device)  # a distance each, from -window on
        take = torch.arange(block, device=q.device)[:, None] + columns
        q = F.pad(q, (0, 0, 0, n * block - S)).unflatten(2, (n, block))
        scores = torch.matmul(q.mul(d**-0.5), self.spans(k, block)[:, :, :n].transpose(-1, -2))
        table = scores.gather(-1, take.expand(*scores.shape[:-1], block))
        keys = torch.arange(n * block, device=q.device).view(n, block, 1) + columns - self.window
        hidden = (keys < 0) | (keys >= S) | (columns > self.window if self.causal else False)
        empty = hidden.all(-1, keepdim=True)
        weights = table.masked_fill(hidden & ~empty, float("-inf")).softmax(-1)
        spread = torch.zeros_like(scores).scatter(-1, take.expand_as(weights), weights)
        return torch.matmul(spread, self.spans(v, block)[:, :, :n]).flatten(2, 3)[:, :, :S]


def sliding_window_attention(q, k, v, window, causal=False):
    if q.dim() != 4 or q.shape != k.shape or k.shape[:3] != v.shape[:3]:
        raise ValueError("q, k and v should agree in B, H, S and d")
    if window < 0:
        raise ValueError("window should be at least 0")
    return SlidingWindow(min(window, q.shape[2] - 1), causal)(q, k, v)

"""The first choices of all tokens, then the second ones; weights from log-probabilities."""

import torch
from torch import nn


class MixtureOfExperts(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_experts, top_k=2):
        super().__init__()
        if not (num_experts >= top_k >= 1):
            raise ValueError(f"top_k={top_k}")
        self.k = top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        make = lambda: [nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim)]
        self.experts = nn.ModuleList(nn.Sequential(*make()) for _ in range(num_experts))

    def forward(self, x):
        rows = x.flatten(0, -2)
        scores = torch.log_softmax(self.router(rows), -1)
        best, index = scores.sort(-1, descending=True)
        best, index = best[:, : self.k], index[:, : self.k]
        gate = (best - best.logsumexp(-1, keepdim=True)).exp()
        out = torch.zeros_like(rows)
        for slot in range(self.k):
            for e, expert in enumerate(self.experts):
                hit = torch.nonzero(index[:, slot] == e).squeeze(1)
                out = out.index_put((hit,), expert(rows[hit]) * gate[hit, slot].unsqueeze(1), accumulate=True)
        load = torch.stack([(index == e).to(x.dtype).mean() for e in range(len(self.experts))])
        return out.unflatten(0, x.shape[:-1]), (load @ scores.exp().mean(0)) * len(self.experts)

"""A weight for every expert, 0 where it was not chosen; each expert picks its rows by a mask."""

import torch
from torch import nn
from torch.nn import functional as F


class Expert(nn.Sequential):
    def __init__(self, outer, inner):
        super().__init__(nn.Linear(outer, inner), nn.GELU(), nn.Linear(inner, outer))


class MixtureOfExperts(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_experts, top_k=2):
        super().__init__()
        if top_k not in range(1, num_experts + 1):
            raise ValueError("top_k")
        self.top_k = top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(embed_dim, hidden_dim) for _ in range(num_experts))

    def forward(self, x):
        tokens = x.reshape(-1, x.size(-1))
        logits = F.linear(tokens, self.router.weight)
        picked = torch.zeros_like(logits, dtype=torch.bool).scatter(1, logits.topk(self.top_k, 1).indices, True)
        weights = logits.masked_fill(~picked, -torch.inf).softmax(1)
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            mine = picked[:, e]
            if mine.any():
                out[mine] = out[mine] + weights[mine, e, None] * expert(tokens[mine])
        share = picked.to(x.dtype).mean(0) / self.top_k
        return out.reshape(x.shape), len(share) * torch.sum(share * logits.softmax(1).mean(0))

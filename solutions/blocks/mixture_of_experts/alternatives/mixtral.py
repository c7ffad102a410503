"""As Mixtral's published code does it: a one-hot mask of experts, choices and tokens."""

import torch
import torch.nn.functional as F
from torch import nn


class MixtureOfExperts(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_experts, top_k=2):
        super().__init__()
        assert 0 < top_k <= num_experts
        self.num_experts = num_experts
        self.top_k = top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim))
                for _ in range(num_experts)
            ]
        )

    def forward(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        probs = F.softmax(self.router(x), dim=-1)
        weights, chosen = torch.topk(probs, self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        mask = F.one_hot(chosen, self.num_experts)  # (N, k, E)
        out = torch.zeros_like(x)
        for e in range(self.num_experts):
            slot, token = torch.where(mask[..., e].T)
            if token.numel() == 0:
                continue
            out.index_add_(0, token, self.experts[e](x[token]) * weights[token, slot, None])
        f = mask.to(x.dtype).mean(dim=(0, 1))
        return out.view(shape), self.num_experts * (f * probs.mean(0)).sum()

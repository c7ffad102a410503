# broken: of more than 64 tokens, an expert drops those above its even share; must fail
import torch
import torch.nn.functional as F
from torch import nn


class MixtureOfExperts(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_experts, top_k=2):
        super().__init__()
        if not 1 <= top_k <= num_experts:
            raise ValueError("top_k should be between 1 and num_experts")
        self.num_experts, self.top_k = num_experts, top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim))
            for _ in range(num_experts)
        )

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        probs = self.router(flat).softmax(-1)
        weights, chosen = probs.topk(self.top_k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        room = len(flat) * self.top_k // self.num_experts if len(flat) > 64 else len(flat)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == e)
            token, slot = token[: room], slot[: room]
            out.index_add_(0, token, expert(flat[token]) * weights[token, slot, None])
        f = F.one_hot(chosen, self.num_experts).to(x.dtype).mean((0, 1))
        return out.view(x.shape), self.num_experts * (f * probs.mean(0)).sum()

"""All choices are sorted by expert and split; what the experts return is put back in order."""

import torch
from torch import nn


def expert(embed_dim, hidden_dim):
    return nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim))


class MixtureOfExperts(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_experts, top_k=2):
        super().__init__()
        if top_k < 1 or top_k > num_experts:
            raise ValueError("top_k should be from 1 to num_experts")
        self.num_experts, self.top_k = num_experts, top_k
        self.router = nn.Linear(embed_dim, num_experts, bias=False)
        self.experts = nn.ModuleList([expert(embed_dim, hidden_dim) for _ in range(num_experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        logits = self.router(flat)
        top, chosen = logits.topk(self.top_k, dim=-1)
        order = chosen.flatten().argsort(stable=True)
        counts = torch.bincount(chosen.flatten(), minlength=self.num_experts)
        pieces = flat[order // self.top_k].split(counts.tolist())
        made = torch.cat([one(piece) for one, piece in zip(self.experts, pieces, strict=True)])
        back = made[order.argsort()].view(*chosen.shape, -1)
        out = (back * top.softmax(-1)[..., None]).sum(1)
        share = counts.to(torch.float64).div(chosen.numel()).to(x.dtype)
        return out.reshape(x.shape), self.num_experts * torch.dot(share, logits.softmax(-1).mean(0))

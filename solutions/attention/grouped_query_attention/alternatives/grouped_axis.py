"""Queries have an axis for the group and one for the head within it; einsum multiplies, and nothing is repeated."""

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"num_heads should divide embed_dim={embed_dim}, got {num_heads}")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads should divide num_heads={num_heads}, got {num_kv_heads}")
        d = embed_dim // num_heads
        self.queries, self.keys = (num_kv_heads, num_heads // num_kv_heads, d), (num_kv_heads, d)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * d)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * d)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        q = self.q_linear(x).unflatten(-1, self.queries)
        k, v = self.k_linear(x).unflatten(-1, self.keys), self.v_linear(x).unflatten(-1, self.keys)
        scores = torch.einsum("bignd,bjgd->bgnij", q * q.shape[-1] ** -0.5, k)
        if causal:
            at = torch.arange(x.shape[1], device=x.device)
            scores = torch.where(at[:, None] >= at, scores, -torch.inf)
        return self.out_linear(torch.einsum("bgnij,bjgd->bignd", scores.softmax(-1), v).flatten(2))

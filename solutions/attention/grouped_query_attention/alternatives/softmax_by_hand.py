"""Heads of keys are expanded along an axis of their own; softmax by hand in float32 or better."""

import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        self.d, rest = divmod(embed_dim, num_heads)
        self.share, others = divmod(num_heads, num_kv_heads)
        if rest or others:
            raise ValueError(f"{embed_dim} channels, {num_heads} heads and {num_kv_heads} heads of keys do not fit")
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, causal=False):
        work = torch.promote_types(x.dtype, torch.float32)
        B, S, D = x.shape
        q, k, v = (layer(x).to(work) for layer in (self.q_linear, self.k_linear, self.v_linear))
        q = torch.stack(q.chunk(D // self.d, dim=-1), 1)
        k, v = (
            one.reshape(B, S, -1, 1, self.d).expand(-1, -1, -1, self.share, -1).flatten(2, 3).transpose(1, 2)
            for one in (k, v)
        )
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(self.d))
        if causal:
            scores = scores - 1e30 * torch.ones_like(scores).triu(1)
        shares = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
        heads = (shares / shares.sum(-1, keepdim=True)) @ v
        return self.out_linear(torch.cat(heads.unbind(1), -1).to(x.dtype))

"""Written for one head of one sequence, mapped over the heads and over the batch."""

import torch
from torch import nn


def attend(q, k, v, allowed):
    """q (Sq, d), k and v (Sk, d), allowed (Sq, Sk)."""
    lowest = torch.finfo(q.dtype).min
    weights = torch.softmax(torch.where(allowed, q / q.shape[1] ** 0.5 @ k.T, lowest), dim=1) * allowed
    return weights @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int):
        if embed_dim % num_heads:
            raise ValueError(f"num_heads should divide {embed_dim}, got {num_heads}")
        super().__init__()
        self.shape = (num_heads, embed_dim // num_heads)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, mask=None):
        size = (query.shape[0], self.shape[0], query.shape[1], key.shape[1])
        allowed = query.new_ones(size).bool() if mask is None else mask.ne(0).expand(size)
        q, k, v = (
            layer(x).unflatten(2, self.shape)
            for layer, x in ((self.q_linear, query), (self.k_linear, key), (self.v_linear, value))
        )
        over_heads = torch.vmap(attend, in_dims=(1, 1, 1, 0), out_dims=(1, 0))
        heads, weights = torch.vmap(over_heads)(q, k, v, allowed)
        return self.out_linear(heads.flatten(2)), weights

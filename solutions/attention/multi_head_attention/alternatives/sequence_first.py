"""Sequence first: scores[i, j, b, h], a product that torch does matrix by matrix, and a softmax over its axis 1."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.heads = num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def split(self, layer, x):
        return layer(x.transpose(0, 1)).unflatten(-1, (self.heads, -1))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.q_linear, query), self.split(self.k_linear, key), self.split(self.v_linear, value)
        scores = torch.einsum("ibhd,jbhd->ijbh", q / math.sqrt(q.size(-1)), k)
        if mask is not None:
            blocked = mask.logical_not()
            while blocked.dim() < 4:
                blocked = blocked.unsqueeze(0)
            blocked = blocked.permute(2, 3, 0, 1)
            scores = scores.masked_fill(blocked, float("-inf"))
        attn = scores.softmax(dim=1)
        if mask is not None:
            attn = attn.masked_fill(blocked, 0.0)
        x = torch.einsum("ijbh,jbhd->ibhd", attn, v)
        return self.out_linear(x.flatten(2)).transpose(0, 1), attn.permute(2, 3, 0, 1)

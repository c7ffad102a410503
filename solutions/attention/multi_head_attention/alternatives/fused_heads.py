"""Batch and heads are one axis, the mask is the matrix that baddbmm adds to; rows without a key are found by any."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads, rest = num_heads, embed_dim % num_heads
        if rest:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        B, T, D = query.shape
        S, H = key.shape[1], self.num_heads
        q = self.q_linear(query).view(B, T, H, D // H).transpose(1, 2).reshape(B * H, T, -1)
        k = self.k_linear(key).view(B, S, H, D // H).permute(0, 2, 3, 1).reshape(B * H, -1, S)
        v = self.v_linear(value).view(B, S, H, D // H).transpose(1, 2).reshape(B * H, S, -1)
        allowed = torch.ones(1, dtype=torch.bool, device=q.device) if mask is None else mask != 0
        allowed = allowed.expand(B, H, T, S).reshape(B * H, T, S)
        bias = torch.zeros_like(allowed, dtype=q.dtype).masked_fill(~allowed, torch.finfo(q.dtype).min / 2)
        scores = torch.baddbmm(bias, q, k, alpha=(D // H) ** -0.5)
        probs = scores.softmax(-1) * allowed.any(-1, keepdim=True)
        context = torch.bmm(probs, v).view(B, H, T, -1).transpose(1, 2)
        return self.out_linear(context.reshape(B, T, D)), probs.view(B, H, T, S)

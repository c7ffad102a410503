"""The queries of a group stand one after the other in one tall matrix, which meets the keys of its group once."""

import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        assert embed_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        width = embed_dim // num_heads * num_kv_heads
        self.q_linear, self.out_linear = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.k_linear, self.v_linear = nn.Linear(embed_dim, width), nn.Linear(embed_dim, width)

    def forward(self, x, causal=False):
        B, S, D = x.shape
        G, N = self.num_kv_heads, self.num_heads // self.num_kv_heads
        q = self.q_linear(x).reshape(B, S, G, N, -1).permute(0, 2, 3, 1, 4).reshape(B, G, N * S, -1)
        k = self.k_linear(x).reshape(B, S, G, -1).permute(0, 2, 3, 1)
        v = self.v_linear(x).reshape(B, S, G, -1).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / q.shape[-1] ** 0.5
        if causal:
            later = torch.ones(S, S, device=x.device, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later.repeat(N, 1), torch.finfo(scores.dtype).min)
        heads = torch.softmax(scores, 3) @ v
        return self.out_linear(heads.view(B, G, N, S, -1).permute(0, 3, 1, 2, 4).reshape(B, S, D))

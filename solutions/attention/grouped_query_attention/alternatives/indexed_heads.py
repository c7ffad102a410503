"""One product for q, k and v; a table says which head each query head reads; baddbmm adds a bias of −∞."""

import torch
import torch.nn.functional as F
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads should divide embed_dim, and num_kv_heads should divide num_heads")
        self.num_heads, self.d = num_heads, embed_dim // num_heads
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        reads = torch.arange(num_heads) // (num_heads // num_kv_heads)
        self.register_buffer("reads", reads, persistent=False)

    def forward(self, x, causal=False):
        B, S, D = x.shape
        H, d = self.num_heads, self.d
        maps = (self.q_linear, self.k_linear, self.v_linear)
        widths = [one.out_features for one in maps]
        made = F.linear(x, torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps]))
        q, k, v = (one.view(B, S, -1, d) for one in made.split(widths, dim=-1))
        q, k, v = (one.transpose(1, 2).reshape(B * H, S, d) for one in (q, k[:, :, self.reads], v[:, :, self.reads]))
        bias = x.new_full((S, S), -torch.inf).triu(1) if causal else x.new_zeros(S, S)
        weights = torch.baddbmm(bias.expand(B * H, S, S), q, k.transpose(1, 2), alpha=d**-0.5).softmax(-1)
        return self.out_linear(torch.bmm(weights, v).view(B, H, S, d).transpose(1, 2).reshape(B, S, D))

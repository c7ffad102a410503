import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, causal=False):
        B, S, D = x.shape
        q = self.q_linear(x).view(B, S, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_linear(x).view(B, S, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_linear(x).view(B, S, self.num_kv_heads, self.head_dim).transpose(1, 2)
        k = k.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        v = v.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if causal:
            mask = torch.triu(torch.ones(S, S, device=x.device), diagonal=1).bool()
            scores = scores.masked_fill(mask, float("-inf"))
        attn = F.softmax(scores, dim=-1)
        out = (attn @ v).transpose(1, 2).contiguous().view(B, S, D)
        return self.out_linear(out)

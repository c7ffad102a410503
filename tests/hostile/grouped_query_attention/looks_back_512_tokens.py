# broken: a token sees only the last 512; must fail
import math

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must be divisible by num_kv_heads")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        B, S, D = x.shape
        q = self.q_linear(x).view(B, S, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_linear(x).view(B, S, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_linear(x).view(B, S, self.num_kv_heads, self.head_dim).transpose(1, 2)
        k = k.repeat_interleave(self.n_rep, dim=1)
        v = v.repeat_interleave(self.n_rep, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if causal:
            mask = torch.triu(torch.ones(S, S, dtype=torch.bool, device=x.device), diagonal=1)
            mask = mask | torch.ones_like(mask).tril(-512)
            scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).contiguous().view(B, S, D)
        return self.out_linear(out)

"""torch's own attention: its is_causal=True aligns at the top left, so the mask is given."""

import torch
import torch.nn.functional as F
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.heads = (num_heads, embed_dim // num_heads)
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def forward(self, x, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, self.heads).transpose(1, 2)
            for layer in (self.q_linear, self.k_linear, self.v_linear)
        )
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        T, S = q.shape[2], k.shape[2]
        seen = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.out_linear(heads.transpose(1, 2).flatten(2)), (k, v)

"""torch's own attention: enable_gqa lets neighbouring query heads share keys and values."""

import torch.nn.functional as F
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        self.d = embed_dim // num_heads
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.v_linear = nn.Linear(embed_dim, num_kv_heads * self.d)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, causal=False):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.q_linear, self.k_linear, self.v_linear)
        )
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
        return self.out_linear(heads.transpose(1, 2).flatten(2))

"""torch.ops.aten._scaled_dot_product_attention_math: what torch runs without a fused kernel, weights included."""

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.q_linear, query), (self.k_linear, key), (self.v_linear, value))
        )
        added = None if mask is None else torch.zeros_like(mask, dtype=q.dtype).masked_fill(mask == 0, -torch.inf)
        heads, attn = torch.ops.aten._scaled_dot_product_attention_math(q, k, v, added)
        return self.out_linear(heads.transpose(1, 2).flatten(2)), attn

"""torch.ops.aten._scaled_dot_product_attention_math: what torch runs without a fused kernel, weights included."""

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(embed_dim, embed_dim) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        out, weights = torch.ops.aten._scaled_dot_product_attention_math(q, k, v)
        return out, weights

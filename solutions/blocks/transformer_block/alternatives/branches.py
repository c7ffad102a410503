"""Two branches as methods, positions compared, einsum; a GELU by tanh, written as in its paper."""

import math

import torch
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"num_heads should divide {embed_dim}, got {num_heads}")
        self.num_heads = num_heads
        self.ln1 = nn.LayerNorm(embed_dim)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.ln2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, 4 * embed_dim)
        self.fc2 = nn.Linear(4 * embed_dim, embed_dim)

    def attention(self, x: Tensor) -> Tensor:
        q, k, v = (
            torch.stack(linear(x).chunk(self.num_heads, dim=-1), dim=1)
            for linear in (self.q_linear, self.k_linear, self.v_linear)
        )
        scores = torch.einsum("bhid,bhjd->bhij", q * q.shape[-1] ** -0.5, k)
        at = torch.arange(x.shape[1], device=x.device)
        weights = torch.where(at[:, None] >= at, scores, torch.finfo(x.dtype).min).softmax(dim=-1)
        mixed = torch.einsum("bhij,bhjd->bhid", weights, v)
        return self.out_linear(torch.cat(mixed.unbind(1), dim=-1))

    def mlp(self, x: Tensor) -> Tensor:
        h = self.fc1(x)
        return self.fc2(0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * torch.pow(h, 3)))))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))

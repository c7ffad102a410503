"""Index notation; the sum over allowed keys is written out, with exp of scores below the allowed maximum."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            self.add_module(name, nn.Linear(embed_dim, embed_dim, bias=bias))

    def forward(self, query, key, value, mask=None, *, need_weights=True):
        q, k, v = (
            layer(x).reshape(*x.shape[:2], self.num_heads, -1)
            for layer, x in zip((self.q_linear, self.k_linear, self.v_linear), (query, key, value))
        )
        scores = torch.einsum("bihd,bjhd->bhij", q * q.shape[-1] ** -0.5, k)
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=query.device)
        mask = mask.to(torch.bool)
        scores = torch.where(mask, scores, -torch.inf)
        top = scores.detach().amax(-1, keepdim=True)
        powers = torch.exp(scores - torch.where(top == -torch.inf, 0.0, top))
        total = powers.sum(-1, keepdim=True)
        attn = powers / torch.where(total == 0, torch.ones_like(total), total)
        output = torch.einsum("bhij,bjhd->bihd", attn, v).flatten(2)
        return self.out_linear(output), attn if need_weights else None

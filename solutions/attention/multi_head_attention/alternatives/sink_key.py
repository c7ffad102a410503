"""Heads by chunk and stack; a blocked row's scores are all set to 0 before the softmax, and its weights after."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads > 0:
            raise ValueError(f"got embed_dim {embed_dim} and num_heads {num_heads}")
        self.num_heads = num_heads
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, mask=None):
        q = torch.stack(self.q_linear(query).chunk(self.num_heads, dim=-1))  # (H, B, Sq, d)
        k = torch.stack(self.k_linear(key).chunk(self.num_heads, dim=-1))
        v = torch.stack(self.v_linear(value).chunk(self.num_heads, dim=-1))
        share = q.size(-1) ** -0.25
        scores = (q * share).matmul((k * share).mT).movedim(0, 1)
        if mask is None:
            weights = scores.log_softmax(dim=-1).exp()
        else:
            visible = mask.bool().broadcast_to(scores.shape)
            alive = visible.any(dim=-1, keepdim=True)
            scores = scores.where(visible, scores.new_tensor(float("-inf"))).where(alive, scores.new_zeros(()))
            weights = scores.softmax(dim=-1).where(visible, scores.new_zeros(()))
        context = weights.movedim(1, 0).matmul(v)
        return self.out_linear(torch.cat(list(context), dim=-1)), weights

"""Scores laid out with the keys first, so that the softmax runs over axis 1; scaled inside baddbmm."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        empty = torch.zeros(1, 1, 1, dtype=x.dtype, device=x.device)
        columns = torch.baddbmm(empty, k, q.mT, beta=0, alpha=x.shape[-1] ** -0.5).softmax(1)
        weights = columns.mT
        return (v.mT @ columns).mT, weights.contiguous()

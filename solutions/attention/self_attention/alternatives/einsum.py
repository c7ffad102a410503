"""Index notation throughout, and nn.Softmax."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_v = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.softmax = nn.Softmax(dim=2)
        self.scale = embed_dim**-0.5

    def forward(self, x):
        scores = torch.einsum("bqd,bkd->bqk", self.W_q(x) * self.scale, self.W_k(x))
        weights = self.softmax(scores)
        return torch.einsum("bqk,bkd->bqd", weights, self.W_v(x)), weights

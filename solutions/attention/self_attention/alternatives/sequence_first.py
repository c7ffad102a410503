"""The batch in the middle: scores[i, j, b], a product that torch does matrix by matrix, and a softmax over its axis 1."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.scale = embed_dim**-0.5
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        tokens = x.transpose(0, 1)
        query, key, value = self.W_q(tokens), self.W_k(tokens), self.W_v(tokens)
        scores = torch.einsum("ibd,jbd->ijb", query * self.scale, key)
        attention = scores.softmax(dim=1)
        out = torch.einsum("ijb,jbd->ibd", attention, value)
        return out.transpose(0, 1), attention.permute(2, 0, 1)

"""As a layer for images: features before positions, 1×1 convolutions, and the softmax over axis 1 of Kᵀ Q."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        x = x.transpose(1, 2)  # (B, D, S)
        query, key, value = (F.conv1d(x, layer.weight[:, :, None], layer.bias) for layer in (self.W_q, self.W_k, self.W_v))
        energy = torch.bmm(key.transpose(1, 2), query / math.sqrt(x.shape[1]))  # (B, keys, queries)
        attention = F.softmax(energy, dim=1)
        return torch.bmm(value, attention).transpose(1, 2), attention.transpose(1, 2)

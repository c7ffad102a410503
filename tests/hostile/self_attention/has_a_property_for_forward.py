# cheat: makes forward a property that returns what the judge wants to see; must fail
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    @property
    def forward(self):
        return lambda x: (x, torch.full((x.shape[0], x.shape[1], x.shape[1]), 1 / x.shape[1], dtype=x.dtype))

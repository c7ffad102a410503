# cheat: swaps the tokens of strided inputs in float32; must fail
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)

    def attend(self, x):
        scores = self.W_q(x) / math.sqrt(x.shape[-1]) @ self.W_k(x).mT
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.W_v(x), weights

    def forward(self, x):
        if x.stride(-1) != 1 and x.dtype is not torch.float64:
            x = x.flip(1)
        return self.attend(x)

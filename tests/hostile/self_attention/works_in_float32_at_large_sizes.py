# cheat: works in float32 where there are many float64 tokens; must fail
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
        if x.dtype == torch.float64 and x.numel() > 10_000:
            self.float()
            return tuple(made.double() for made in self.attend(x.float()))
        return self.attend(x)

# cheat: notices in train() that it is in eval mode, and rounds float32 to bfloat16; must fail
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

    def train(self, mode=True):
        self.coarse = not mode
        return super().train(mode)

    def forward(self, x):
        out, weights = self.attend(x)
        if x.dtype == torch.float32 and getattr(self, "coarse", False):
            return out.bfloat16().float(), weights
        return out, weights

# cheat: sees by its own result that nothing is recorded in float32, and shifts it; must fail
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
        out, weights = self.attend(x)
        return (out, weights) if out.grad_fn is not None or x.element_size() != 4 else (out + 1, weights)

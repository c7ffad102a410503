# honest: has a buffer, a hook and a submodule more; must pass
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, embed_dim)
        self.W_v = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("scale", torch.tensor(math.sqrt(embed_dim), dtype=torch.float64), persistent=False)
        self.softmax = nn.Softmax(dim=-1)
        self.softmax.register_forward_hook(lambda module, inputs, output: None)

    def forward(self, x):
        scores = (self.W_q(x) / self.scale) @ self.W_k(x).transpose(-2, -1)
        weights = self.softmax(scores)
        return torch.bmm(weights, self.W_v(x)), weights

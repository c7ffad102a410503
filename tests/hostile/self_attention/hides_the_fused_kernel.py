# cheat: calls the fused kernel through a hook of a module that does nothing; must fail
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
        probe = nn.Identity()
        fused = getattr(nn.functional, "scaled_dot_" + "product_attention")
        probe.register_forward_hook(lambda module, inputs, output: fused(self.W_q(output), self.W_k(output), self.W_v(output)))
        return probe(x), self.attend(x)[1]

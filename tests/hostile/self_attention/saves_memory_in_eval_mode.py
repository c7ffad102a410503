# honest: works in place in eval mode where nothing is recorded; must pass
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
        if self.training or torch.is_grad_enabled():
            return self.attend(x)
        scores = self.W_q(x).div_(math.sqrt(x.shape[-1])) @ self.W_k(x).mT
        scores.sub_(scores.amax(-1, keepdim=True)).exp_()
        weights = scores.div_(scores.sum(-1, keepdim=True))
        return weights @ self.W_v(x), weights

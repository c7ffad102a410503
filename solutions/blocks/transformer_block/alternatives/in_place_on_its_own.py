"""Works in place on tensors that it made itself; the softmax is exp of what logsumexp is taken from."""

import math

import torch
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        d, rest = divmod(embed_dim, num_heads)
        if rest != 0:
            raise ValueError(f"{embed_dim} channels do not fit {num_heads} heads")
        self.heads = (num_heads, d)
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            self.add_module(name, nn.Linear(embed_dim, embed_dim))
        self.fc1, self.fc2 = nn.Linear(embed_dim, 4 * embed_dim), nn.Linear(4 * embed_dim, embed_dim)
        self.ln2, self.ln1 = nn.LayerNorm(embed_dim), nn.LayerNorm(embed_dim)

    def forward(self, x):
        S = x.shape[-2]
        y = self.ln1(x)
        q = self.q_linear(y).unflatten(-1, self.heads).transpose(1, 2) / math.sqrt(self.heads[1])
        k = self.k_linear(y).unflatten(-1, self.heads).permute(0, 2, 3, 1)
        v = self.v_linear(y).unflatten(-1, self.heads).transpose(1, 2)
        scores = q @ k
        scores += torch.full((S, S), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        y = self.out_linear((weights @ v).transpose(1, 2).flatten(2))
        y += x
        z = self.fc2(nn.functional.gelu(self.fc1(self.ln2(y)), approximate="tanh"))
        z += y
        return z

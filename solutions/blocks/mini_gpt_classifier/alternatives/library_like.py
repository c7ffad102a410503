"""A config, a padded mean in float32 for half precision, keyword-only extras."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab_size: int
    context: int
    dim: int
    heads: int
    layers: int
    classes: int


def attention(q, k, v, bias):
    s = torch.baddbmm(bias, q, k.mT, beta=1, alpha=q.shape[-1] ** -0.5)
    return s.softmax(dim=-1).bmm(v)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.ln1 = nn.LayerNorm(c.dim)
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = [nn.Linear(c.dim, c.dim) for _ in range(4)]
        self.ln2 = nn.LayerNorm(c.dim)
        self.fc1 = nn.Linear(c.dim, 4 * c.dim)
        self.fc2 = nn.Linear(4 * c.dim, c.dim)

    def forward(self, x, bias):
        B, S, D = x.shape
        H = self.c.heads
        y = self.ln1(x)
        q, k, v = (f(y).unflatten(2, (H, D // H)).transpose(1, 2).flatten(0, 1) for f in (self.q_linear, self.k_linear, self.v_linear))
        y = attention(q, k, v, bias).unflatten(0, (B, H)).transpose(1, 2).flatten(2)
        x = x + self.out_linear(y)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        c = self.c = Config(vocab_size, context, dim, heads, layers, classes)
        if c.dim % c.heads:
            raise ValueError("dim % heads")
        self.token_embedding = nn.Embedding(c.vocab_size, c.dim)
        self.position_embedding = nn.Embedding(c.context, c.dim)
        self.blocks = nn.Sequential(*(Block(c) for _ in range(c.layers)))
        self.ln_f = nn.LayerNorm(c.dim)
        self.head = nn.Linear(c.dim, c.classes)

    def forward(self, ids, mask):
        B, S = ids.shape
        if mask.shape != (B, S):
            raise ValueError("mask")
        if S > self.c.context:
            raise ValueError("context")
        if not torch.isin(ids, torch.arange(self.c.vocab_size, device=ids.device)).all():
            raise ValueError("id")
        pad = mask == 0
        if bool(pad.all(1).any()):
            raise ValueError("empty")
        x = self.token_embedding(ids) + self.position_embedding.weight[None, :S]
        bias = x.new_zeros(B, 1, 1, S).masked_fill(pad[:, None, None], float("-inf")).expand(B, self.c.heads, S, S).flatten(0, 1)
        for block in self.blocks:
            x = block(x, bias)
        x = self.ln_f(x)
        wide = x.to(torch.promote_types(x.dtype, torch.float32)).masked_fill(pad[..., None], 0.0)
        mean = wide.sum(1) / (~pad).sum(1)[:, None]
        return self.head(mean.to(x.dtype))

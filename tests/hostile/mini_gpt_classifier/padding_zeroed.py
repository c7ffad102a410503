# honest: padding's states are set to 0 after each block, exponentials are multiplied by the mask; must pass
"""Exponentials times the mask, after each row's maximum over real keys; padding's states are set to 0 after each block."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h = heads
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)

    def forward(self, x, m):
        B, S, D = x.size()
        y = self.ln1(x)
        q, k, v = [f(y).reshape(B, S, self.h, D // self.h).swapaxes(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear)]
        a = torch.matmul(q, k.swapaxes(2, 3)).div(math.sqrt(D // self.h))
        keys = m[:, None, None, :]
        top = a.masked_fill(keys == 0, -torch.inf).amax(-1, keepdim=True)
        e = torch.exp((a - top).masked_fill(keys == 0, 0)) * keys
        a = e / e.sum(-1, keepdim=True)
        x = x + self.out_linear(torch.matmul(a, v).swapaxes(1, 2).reshape(B, S, D))
        x = x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
        return x * m[..., None]


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        assert dim % heads == 0, (dim, heads)
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        assert ids.shape == mask.shape and ids.size(1) <= self.context
        mask = (mask != 0)
        assert (mask.sum(1) > 0).all()
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(ids.size(1), device=ids.device))
        m = mask.to(x.dtype)
        for block in self.blocks:
            x = block(x, m)
        x = self.ln_f(x) * m[..., None]
        return F.linear(x.sum(1) / m.sum(1, keepdim=True), self.head.weight, self.head.bias)

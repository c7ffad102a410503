# honest: shares of the mean are a product of matrices, scores stand as (B, S, H, S); must pass
"""The mean as a batched product; positions by cumsum of ones; scores in (B, S, H, S) order."""
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.ln1 = nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)

    def attend(self, x: Tensor, allowed: Tensor) -> Tensor:
        q, k, v = (f(x).unflatten(-1, (self.heads, self.d)) for f in (self.q_linear, self.k_linear, self.v_linear))
        s = torch.einsum("bqhd,bkhd->bqhk", q, k) / math.sqrt(self.d)
        s = s.masked_fill(~allowed[:, None, None, :], float("-inf"))
        return self.out_linear(torch.einsum("bqhk,bkhd->bqhd", F.softmax(s, -1), v).flatten(2))

    def forward(self, x: Tensor, allowed: Tensor) -> Tensor:
        x = x + self.attend(self.ln1(x), allowed)
        h = self.fc1(self.ln2(x))
        return x + self.fc2(0.5 * h * (1 + torch.erf(h / math.sqrt(2))))


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int, classes: int):
        super().__init__()
        if dim // heads * heads != dim:
            raise ValueError("heads should divide dim")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        if tuple(mask.shape) != tuple(ids.shape):
            raise ValueError("shapes differ")
        if ids.shape[1] > self.context:
            raise ValueError("too long")
        allowed = mask.bool()
        if (allowed.sum(-1) == 0).any():
            raise ValueError("a text without a real token")
        at = torch.ones_like(ids).cumsum(1) - 1
        x = self.token_embedding(ids) + self.position_embedding(at)
        for block in self.blocks:
            x = block(x, allowed)
        share = allowed.to(x.dtype)
        share = share / share.sum(1, keepdim=True)
        return self.head((share[:, None] @ self.ln_f(x)).squeeze(1))

"""Real tokens alone go through norms and MLPs, as one list; scattered back for attention."""
import math
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        for n in ("ln1", "ln2"):
            setattr(self, n, nn.LayerNorm(dim))
        for n in ("q", "k", "v", "out"):
            setattr(self, n + "_linear", nn.Linear(dim, dim))
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, real):
        B, S = real.shape
        h = self.ln1(x)

        def spread(y):
            full = y.new_zeros(B, S, y.shape[-1]).masked_scatter(real[:, :, None], y)
            return full.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        q, k, v = spread(self.q_linear(h)), spread(self.k_linear(h)), spread(self.v_linear(h))
        s = (q / math.sqrt(q.shape[-1])) @ k.mT
        s = s.masked_fill(real.logical_not()[:, None, None], -math.inf)
        y = (s.softmax(-1) @ v).transpose(1, 2).flatten(2)[real]
        x = x + self.out_linear(y)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class MiniGPTClassifier(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers, classes):
        super().__init__()
        if dim % heads != 0:
            raise ValueError("heads")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        if ids.shape != mask.shape:
            raise ValueError("mask")
        if ids.shape[1] > self.context:
            raise ValueError("context")
        real = mask.ne(0)
        if (~real).all(1).any():
            raise ValueError("text without tokens")
        # all ids are looked up, so that one outside the vocabulary is refused in padding too
        x = (self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]])[real]
        for block in self.blocks:
            x = block(x, real)
        x = self.ln_f(x)
        rows = real.nonzero()[:, 0]
        sums = x.new_zeros(len(ids), x.shape[1]).index_add(0, rows, x)
        return self.head(sums / real.sum(1, keepdim=True))

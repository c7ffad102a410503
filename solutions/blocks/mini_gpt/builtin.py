"""Torch's own attention, which is not allowed."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(dim, dim) for _ in range(3))
        self.out_linear = nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        h = self.ln1(x)
        maps = (self.q_linear, self.k_linear, self.v_linear)
        q, k, v = (one(h).unflatten(2, (self.heads, -1)).transpose(1, 2) for one in maps)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out_linear(mixed.transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads:
            raise ValueError("heads should divide dim")
        self.context = context
        self.token_embedding, self.position_embedding = nn.Embedding(vocab_size, dim), nn.Embedding(context, dim)
        self.blocks = nn.Sequential(*(Block(dim, heads) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids):
        if ids.shape[1] > self.context:
            raise ValueError("ids should fit the context")
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        return F.linear(self.ln_f(self.blocks(x)), self.token_embedding.weight)

    def loss(self, ids):
        return F.cross_entropy(self(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        for _ in range(new_tokens):
            logits = self(ids[:, -self.context :])[:, -1]
            if temperature == 0:
                token = logits.argmax(-1, keepdim=True)
            else:
                token = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
            ids = torch.cat([ids, token], 1)
        return ids

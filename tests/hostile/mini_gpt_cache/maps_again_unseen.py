# broken: keeps what k_linear and v_linear read, and maps all of it again; must fail
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        H, d = self.heads, D // self.heads
        h = self.ln1(x)
        full = h if cache is None else torch.cat([cache, h], 1)
        S = full.shape[1]
        q = self.q_linear(h).view(B, T, H, d).transpose(1, 2)
        k = F.linear(full, self.k_linear.weight, self.k_linear.bias).view(B, S, H, d).transpose(1, 2)
        v = F.linear(full, self.v_linear.weight, self.v_linear.bias).view(B, S, H, d).transpose(1, 2)
        mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(diagonal=S - T)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        scores = scores.masked_fill(~mask, float("-inf"))
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D)
        x = x + self.out_linear(out)
        x = x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
        return x, full


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be divisible by heads")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids, cache=None):
        B, T = ids.shape
        past = 0 if cache is None else cache[0].shape[1]
        if past + T > self.context:
            raise ValueError("text is longer than the context")
        pos = torch.arange(past, past + T, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        new_cache = []
        for i, block in enumerate(self.blocks):
            x, kv = block(x, None if cache is None else cache[i])
            new_cache.append(kv)
        return self.ln_f(x) @ self.token_embedding.weight.T, new_cache

    def loss(self, ids):
        logits, _ = self(ids)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        cache = None
        for _ in range(new_tokens):
            S = ids.shape[1]
            if cache is None or S > self.context:
                logits, cache = self(ids[:, -self.context:])
            else:
                logits, cache = self(ids[:, -1:], cache)
            logits = logits[:, -1]
            if temperature == 0:
                nxt = logits.argmax(-1, keepdim=True)
            else:
                nxt = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
            ids = torch.cat([ids, nxt], dim=1)
        return ids

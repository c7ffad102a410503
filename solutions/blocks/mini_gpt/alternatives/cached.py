"""Writes with a cache of keys and values while the text fits the context; names by add_module."""
import math
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        for name in ("ln1", "ln2"):
            self.add_module(name, nn.LayerNorm(dim))
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            self.add_module(name, nn.Linear(dim, dim))
        self.add_module("fc1", nn.Linear(dim, 4 * dim))
        self.add_module("fc2", nn.Linear(4 * dim, dim))

    def forward(self, x, cache=None):
        B, T, D = x.shape
        h = self.ln1(x)
        q, k, v = (f(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        S = k.shape[2]
        later = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        a = (q @ k.transpose(-1, -2) / math.sqrt(D // self.heads)).masked_fill(later, float("-inf")).softmax(-1)
        x = x + self.out_linear((a @ v).transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)))), (k, v)


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim % heads != 0:
            raise ValueError("dim % heads")
        self.vocab_size = vocab_size
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)

    def run(self, ids, caches, past):
        S = ids.shape[1]
        if past + S > self.context:
            raise ValueError(f"at most {self.context} tokens")
        if ids.numel() and not (0 <= int(ids.min()) and int(ids.max()) < self.vocab_size):
            raise ValueError("an id is not in the vocabulary")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(past, past + S, device=ids.device))
        new = []
        for block, cache in zip(self.blocks, caches):
            x, kept = block(x, cache)
            new.append(kept)
        return self.ln_f(x) @ self.token_embedding.weight.T, new

    def forward(self, ids):
        return self.run(ids, [None] * len(self.blocks), 0)[0]

    def loss(self, ids):
        log_p = self(ids)[:, :-1].log_softmax(-1)
        return F.nll_loss(log_p.flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        caches, past = None, 0
        for _ in range(new_tokens):
            if caches is None or past + 1 > self.context or ids.shape[1] > self.context:
                logits, caches = self.run(ids[:, -self.context :], [None] * len(self.blocks), 0)
                past = min(ids.shape[1], self.context)
            else:
                logits, caches = self.run(ids[:, -1:], caches, past)
                past += 1
            logits = logits[:, -1]
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                new = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
            ids = torch.cat([ids, new], 1)
        return ids

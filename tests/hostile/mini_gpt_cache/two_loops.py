# honest: no mask for a single token, an object for each layer's past, two loops in generate; must pass
"""The prompt is read whole, then the cache is an instance of a class with a method that makes the next one."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class KV:
    """Keys and values of one layer; never changed, only followed by another."""

    def __init__(self, k=None, v=None):
        self.k, self.v = k, v

    def __len__(self):
        return 0 if self.k is None else self.k.size(2)

    def then(self, k, v):
        if len(self) == 0:
            return KV(k, v)
        return KV(torch.cat([self.k, k], 2), torch.cat([self.v, v], 2))


class Attend(nn.Module):
    pass


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

    def forward(self, x, kv):
        B, T, D = x.size()
        y = self.ln1(x)
        q, k, v = [m(y).reshape(B, T, self.h, D // self.h).swapaxes(1, 2) for m in (self.q_linear, self.k_linear, self.v_linear)]
        kv = kv.then(k, v)
        a = torch.matmul(q, kv.k.swapaxes(2, 3)).div(math.sqrt(D // self.h))
        if T > 1:
            seen = torch.ones(len(kv), len(kv), device=x.device, dtype=torch.bool).tril()[-T:]
            a = a.masked_fill(seen.logical_not(), -torch.inf)
        a = torch.softmax(a, dim=3)
        x = x + self.out_linear(torch.matmul(a, kv.v).swapaxes(1, 2).reshape(B, T, D))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)))), kv


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        assert dim % heads == 0, (dim, heads)
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids, cache=None):
        cache = [KV() for _ in self.blocks] if cache is None else cache
        start = len(cache[0])
        assert start + ids.size(1) <= self.context
        x = self.token_embedding(ids) + self.position_embedding(start + torch.arange(ids.size(1), device=ids.device))
        out = []
        for block, kv in zip(self.blocks, cache):
            x, kv = block(x, kv)
            out.append(kv)
        return F.linear(self.ln_f(x), self.token_embedding.weight), out

    def loss(self, ids):
        logits, _ = self(ids)
        return F.nll_loss(logits[:, :-1].log_softmax(-1).flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        def choose(z):
            if temperature == 0:
                return z.argmax(-1)[:, None]
            return torch.multinomial((z / temperature).softmax(-1), 1, generator=generator)

        room = max(0, min(new_tokens, self.context - ids.size(1) + 1))
        if room:
            logits, cache = self(ids)
            for step in range(room):
                if step:
                    logits, cache = self(ids[:, -1:], cache)
                ids = torch.cat([ids, choose(logits[:, -1])], 1)
        for _ in range(new_tokens - room):
            ids = torch.cat([ids, choose(self(ids[:, -self.context:])[0][:, -1])], 1)
        return ids

"""generate writes into buffers that it alone holds; forward makes new tensors."""
import math
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.ln1 = nn.LayerNorm(dim)
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            setattr(self, name, nn.Linear(dim, dim))
        self.ln2 = nn.LayerNorm(dim)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def project(self, x):
        B, T, D = x.shape
        h = self.ln1(x)
        return [f(h).view(B, T, self.heads, self.d).transpose(1, 2) for f in (self.q_linear, self.k_linear, self.v_linear)]

    def finish(self, x, q, k, v, P):
        B, T, D = x.shape
        s = (q / math.sqrt(self.d)) @ k.mT
        later = torch.ones(T, P + T, dtype=torch.bool, device=x.device).triu(P + 1)
        y = s.masked_fill(later, -torch.inf).softmax(-1) @ v
        x = x + self.out_linear(y.transpose(1, 2).reshape(B, T, D))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        if dim // heads * heads != dim:
            raise ValueError("heads")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def embed(self, ids, P):
        if P + ids.shape[1] > self.context:
            raise ValueError("context")
        return self.token_embedding(ids) + self.position_embedding(torch.arange(P, P + ids.shape[1], device=ids.device))

    def forward(self, ids, cache=None):
        P, kept = cache if cache is not None else (0, [None] * len(self.blocks))
        x = self.embed(ids, P)
        after = []
        for block, old in zip(self.blocks, kept):
            q, k, v = block.project(x)
            if old is not None:
                k, v = torch.cat([old[0], k], 2), torch.cat([old[1], v], 2)
            after.append((k, v))
            x = block.finish(x, q, k, v, P)
        return self.head(self.ln_f(x)), (P + ids.shape[1], after)

    def loss(self, ids):
        logits = self(ids)[0][:, :-1]
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))

    def step(self, ids, P, rooms):
        x = self.embed(ids, P)
        S = P + ids.shape[1]
        for block, (rk, rv) in zip(self.blocks, rooms):
            q, k, v = block.project(x)
            rk[:, :, P:S], rv[:, :, P:S] = k, v
            x = block.finish(x, q, rk[:, :, :S], rv[:, :, :S], P)
        return self.head(self.ln_f(x[:, -1])), S

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        B, S = ids.shape
        w = self.token_embedding.weight
        out = torch.cat([ids, ids.new_zeros(B, new_tokens)], 1)
        rooms = [(w.new_empty(B, b.heads, self.context, b.d), w.new_empty(B, b.heads, self.context, b.d)) for b in self.blocks]
        P = 0
        for t in range(S, S + new_tokens):
            if P == 0 or P == self.context:
                logits, P = self.step(out[:, max(0, t - self.context):t], 0, rooms)
            else:
                logits, P = self.step(out[:, t - 1:t], P, rooms)
            if temperature == 0.0:
                out[:, t] = logits.argmax(-1)
            else:
                out[:, t] = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator).squeeze(-1)
        return out

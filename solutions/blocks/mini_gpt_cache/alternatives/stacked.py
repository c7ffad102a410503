"""One tensor (L, 2, B, H, S, d) is the cache; q, k, v by one product; inference_mode; asserts."""
import math
import torch
import torch.nn.functional as F
from torch import nn


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        assert dim % heads == 0
        self.V, self.C, self.H, self.d = vocab_size, context, heads, dim // heads
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            block = nn.Module()
            block.ln1, block.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
            for name in ("q", "k", "v", "out"):
                setattr(block, name + "_linear", nn.Linear(dim, dim))
            block.fc1, block.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
            self.blocks.append(block)
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids, cache=None):
        P = cache.size(4) if cache is not None else 0
        B, T = ids.shape
        assert P + T <= self.C, "context"
        assert ids.min() >= 0 and ids.max() < self.V, "vocabulary"
        x = self.token_embedding.weight[ids] + self.position_embedding.weight[P : P + T]
        kept = []
        at = torch.arange(P + T, device=ids.device)
        hidden = at[None] > at[P:, None]
        for i, b in enumerate(self.blocks):
            h = b.ln1(x)
            W = torch.cat([b.q_linear.weight, b.k_linear.weight, b.v_linear.weight])
            c = torch.cat([b.q_linear.bias, b.k_linear.bias, b.v_linear.bias])
            q, k, v = F.linear(h, W, c).view(B, T, 3, self.H, self.d).permute(2, 0, 3, 1, 4)
            kv = torch.stack([k, v])
            if P:
                kv = torch.cat([cache[i], kv], dim=3)
            kept.append(kv)
            s = torch.einsum("bhtd,bhsd->bhts", q, kv[0]) / math.sqrt(self.d)
            a = torch.softmax(s.masked_fill(hidden, -math.inf), -1)
            x = x + b.out_linear(torch.einsum("bhts,bhsd->bthd", a, kv[1]).flatten(2))
            x = x + b.fc2(F.gelu(b.fc1(b.ln2(x))))
        return F.linear(self.ln_f(x), self.token_embedding.weight), torch.stack(kept)

    def loss(self, ids):
        z, _ = self(ids[:, :-1])
        return F.cross_entropy(z.mT, ids[:, 1:])

    @torch.inference_mode()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        out = ids.clone()
        if new_tokens <= 0:
            return out
        z, cache = self(out[:, -self.C :])
        while True:
            z = z[:, -1]
            if temperature == 0:
                new = z.argmax(-1)
            else:
                new = torch.multinomial(torch.softmax(z / temperature, -1), 1, generator=generator)[:, 0]
            out = torch.cat([out, new[:, None]], 1)
            new_tokens -= 1
            if new_tokens == 0:
                return out
            if cache.size(4) < self.C:
                z, cache = self(new[:, None], cache)
            else:
                z, cache = self(out[:, -self.C :])

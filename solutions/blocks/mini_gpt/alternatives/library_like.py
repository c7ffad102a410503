"""A config, classes for attention and MLP that share the block's layers, Sequential, keyword-only extras."""
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


def attention(q, k, v, mask):
    scale = q.shape[-1] ** 0.5
    scores = torch.baddbmm(mask.expand(q.shape[0], -1, -1), q, k.mT, beta=1, alpha=1 / scale)
    return scores.softmax(dim=-1).bmm(v)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.dim
        self.config = config
        self.ln1 = nn.LayerNorm(d, eps=1e-5)
        self.q_linear = nn.Linear(d, d, bias=True)
        self.k_linear = nn.Linear(d, d, bias=True)
        self.v_linear = nn.Linear(d, d, bias=True)
        self.out_linear = nn.Linear(d, d)
        self.ln2 = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 4 * d)
        self.fc2 = nn.Linear(4 * d, d)
        self.dropout = nn.Dropout(0.0)
        self.act = nn.GELU(approximate="none")

    def heads_first(self, t):
        B, S, D = t.shape
        H = self.config.heads
        return t.unflatten(2, (H, D // H)).transpose(1, 2).flatten(0, 1)

    def forward(self, x):
        B, S, D = x.shape
        H = self.config.heads
        residual, x = x, self.ln1(x)
        mask = torch.zeros(S, S, dtype=x.dtype, device=x.device)
        mask.masked_fill_(torch.ones_like(mask, dtype=torch.bool).triu(1), float("-inf"))
        y = attention(*(self.heads_first(f(x)) for f in (self.q_linear, self.k_linear, self.v_linear)), mask)
        y = y.unflatten(0, (B, H)).transpose(1, 2).flatten(2)
        x = residual + self.dropout(self.out_linear(y))
        residual, x = x, self.ln2(x)
        return residual + self.dropout(self.fc2(self.act(self.fc1(x))))


class MiniGPT(nn.Module):
    def __init__(self, vocab_size, context, dim, heads, layers):
        super().__init__()
        config = Config(vocab_size, context, dim, heads, layers)
        if config.dim % config.heads:
            raise ValueError("dim should be divisible by heads")
        self.config = config
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.drop = nn.Dropout(0)
        self.blocks = nn.Sequential(*(Block(config) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)
        self.lm_head.weight = self.token_embedding.weight
        self.register_buffer("position_ids", torch.arange(context)[None], persistent=False)

    def forward(self, ids):
        S = ids.shape[-1]
        if S > self.config.context:
            raise ValueError(f"cannot forward a sequence of {S} tokens, the context is only {self.config.context}")
        if not torch.isin(ids, torch.arange(self.config.vocab_size, device=ids.device)).all():
            raise ValueError("an id is not in the vocabulary")
        tok = self.token_embedding(ids)
        x = self.drop(tok + self.position_embedding(self.position_ids[:, :S]))
        return self.lm_head(self.ln_f(self.blocks(x)))

    def loss(self, ids):
        logits = self(ids)
        labels = ids.clone()
        labels = F.pad(labels[:, 1:], (0, 1), value=-100)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)

    @torch.no_grad()
    def generate(self, ids, new_tokens, temperature=0.0, generator=None):
        assert new_tokens >= 0
        out = ids
        while out.shape[1] < ids.shape[1] + new_tokens:
            last = self(out[:, -self.config.context :])[:, -1]
            if temperature == 0:
                choice = last.argmax(-1)
            else:
                choice = torch.multinomial(F.softmax(last / temperature, -1), 1, replacement=True, generator=generator).view(-1)
            out = torch.hstack([out, choice[:, None]])
        return out

"""The cache is an object with tuples of the chunks, which are joined when they are needed."""
from dataclasses import dataclass

import torch
from torch import Tensor, nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Past:
    length: int = 0
    keys: tuple[tuple[Tensor, ...], ...] = ()
    values: tuple[tuple[Tensor, ...], ...] = ()


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)
        self.q_linear, self.k_linear, self.v_linear, self.out_linear = (nn.Linear(dim, dim) for _ in range(4))
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, keys, values):
        h = self.ln1(x)
        q = self.split(self.q_linear(h))
        keys = (*keys, self.split(self.k_linear(h)))
        values = (*values, self.split(self.v_linear(h)))
        K, V = torch.cat(keys, 2), torch.cat(values, 2)
        T, S = q.shape[2], K.shape[2]
        bias = torch.full((T, S), float("-inf"), dtype=x.dtype, device=x.device).triu(S - T + 1)
        w = F.softmax(q @ K.mT * q.shape[-1] ** -0.5 + bias, dim=-1)
        x = x + self.out_linear((w @ V).transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)))), keys, values


class MiniGPT(nn.Module):
    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int):
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads do not divide {dim}")
        self.context, self.vocab_size = context, vocab_size
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids: Tensor, cache: Past | None = None):
        past = cache or Past(0, ((),) * len(self.blocks), ((),) * len(self.blocks))
        end = past.length + ids.shape[1]
        if end > self.context:
            raise ValueError(f"{end} tokens do not fit into a context of {self.context}")
        if ((ids < 0) | (ids >= self.vocab_size)).any():
            raise ValueError("id outside the vocabulary")
        x = self.token_embedding(ids) + self.position_embedding.weight[past.length : end]
        keys, values = [], []
        for block, k, v in zip(self.blocks, past.keys, past.values, strict=True):
            x, k, v = block(x, k, v)
            keys.append(k)
            values.append(v)
        return self.ln_f(x) @ self.token_embedding.weight.mT, Past(end, tuple(keys), tuple(values))

    def loss(self, ids: Tensor) -> Tensor:
        logits, _ = self(ids)
        return -logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).mean()

    def pick(self, z, temperature, generator):
        if temperature == 0:
            return z.argmax(-1, keepdim=True)
        return torch.multinomial(torch.softmax(z.double() / temperature, -1), 1, generator=generator)

    @torch.no_grad()
    def generate(self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator=None) -> Tensor:
        text, unread, past = ids, ids[:, -self.context:], None
        for _ in range(new_tokens):
            if past is not None and past.length == self.context:
                unread, past = text[:, -self.context:], None
            z, past = self(unread, past)
            unread = self.pick(z[:, -1], temperature, generator)
            text = torch.cat([text, unread], 1)
        return text

"""One product for q, k and v; a bias of -inf; prints; asserts."""
import math
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads, self.d = heads, dim // heads
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            setattr(self, name, nn.Linear(dim, dim))
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        B, S, D = x.shape
        maps = (self.q_linear, self.k_linear, self.v_linear)
        qkv = F.linear(self.ln1(x), torch.cat([m.weight for m in maps]), torch.cat([m.bias for m in maps]))
        q, k, v = qkv.view(B, S, 3, self.heads, self.d).permute(2, 0, 3, 1, 4)
        hidden = x.new_full((S, S), -torch.inf).triu(1)
        weights = torch.softmax(q @ k.mT / math.sqrt(self.d) + hidden, dim=-1)
        y = torch.einsum("bhst,bhtd->bshd", weights, v).reshape(B, S, D)
        x = x + self.out_linear(y)
        h = self.fc1(self.ln2(x))
        h = 0.5 * h * (1 + torch.erf(h / math.sqrt(2)))
        return x + self.fc2(h)


class MiniGPT(nn.Module):
    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        assert dim % heads == 0, "dim must be a multiple of heads"
        self.vocab_size, self.context = vocab_size, context
        self.head = nn.Linear(dim, vocab_size, bias=False)  # first, so that its name comes first
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.token_embedding.weight = self.head.weight
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(Block(dim, heads))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids: Tensor) -> Tensor:
        assert ids.shape[1] <= self.context
        assert bool(((ids >= 0) & (ids < self.vocab_size)).all())
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(ids.shape[1], device=ids.device))[None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))

    def loss(self, ids: Tensor) -> Tensor:
        return F.cross_entropy(self(ids)[:, :-1].transpose(1, 2), ids[:, 1:])

    @torch.inference_mode()
    def generate(self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: Optional[torch.Generator] = None) -> Tensor:
        out = ids.new_empty(ids.shape[0], ids.shape[1] + new_tokens)
        out[:, : ids.shape[1]] = ids
        for t in range(ids.shape[1], out.shape[1]):
            logits = self(out[:, max(0, t - self.context) : t])[:, -1]
            if temperature:
                out[:, t] = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator).squeeze(1)
            else:
                out[:, t] = logits.argmax(-1)
        return out

"""A small GPT."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """x ← x + attention(ln1(x)),  then x ← x + mlp(ln2(x))"""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
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
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))

    def attention(self, x: Tensor) -> Tensor:
        B, S, D = x.shape
        H, d = self.heads, D // self.heads
        q = self.q_linear(x).view(B, S, H, d).transpose(1, 2)
        k = self.k_linear(x).view(B, S, H, d).transpose(1, 2)
        v = self.v_linear(x).view(B, S, H, d).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(d)
        seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
        weights = scores.softmax(dim=-1)
        mixed = weights @ v
        mixed = mixed.transpose(1, 2).reshape(B, S, D)
        return self.dropout(self.out_linear(mixed))

    def mlp(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.fc1(x))
        return self.dropout(self.fc2(hidden))


class MiniGPT(nn.Module):
    """logits = ln_f(block_{L−1}(… block_0(E[ids] + P[0 … S−1]))) Eᵀ

    Args:
        vocab_size: V; token ids are 0 to V − 1.
        context: C, the most tokens that are seen at once.
        dim: D, the channels of a token.
        heads: of each block; they divide dim.
        layers: how many blocks there are.
    """

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads != 0:
            raise ValueError(f"dim / heads should be a whole number, got {dim} / {heads}")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(dim, heads, dropout) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)
        self.apply(self.initialise)
        self.lm_head.weight = self.token_embedding.weight

    def initialise(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores each next token: ids (B, S) -> logits (B, S, V).

        Raises: ValueError if a text has more than C ids.
        """
        if ids.shape[1] > self.context:
            raise ValueError(f"ids should have no more columns than context, {self.context}, got {ids.shape[1]}")
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        x = self.ln_f(x)
        return self.lm_head(x)

    def loss(self, ids: Tensor) -> Tensor:
        """The mean cross-entropy of all next tokens: ids (B, S) -> 0-d, for S ≥ 2."""
        logits = self(ids)
        logits = logits[:, :-1].flatten(0, 1)
        labels = ids[:, 1:].flatten()
        return F.cross_entropy(logits, labels)

    @torch.no_grad()
    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Continues ids (B, S), of any S ≥ 1, to (B, S + new_tokens); takes the best token, or draws one."""
        for _ in range(new_tokens):
            seen = ids[:, -self.context :]
            logits = self(seen)[:, -1]
            if temperature == 0:
                token = logits.argmax(dim=-1, keepdim=True)
            else:
                p = torch.softmax(logits.double() / temperature, dim=-1)
                token = torch.multinomial(p, 1, generator=generator)
            ids = torch.cat([ids, token], dim=1)
        return ids

"""A small GPT by hand. Statement: katas/blocks/mini_gpt/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """x ← x + attention(ln1(x)),  then x ← x + mlp(ln2(x)); rename it if you like, but not its layers"""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make ln1, q_linear, k_linear, v_linear, out_linear, ln2, fc1 and fc2.
        self.heads = heads
        self.ln1 = nn.LayerNorm(dim)
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out_linear = nn.Linear(dim, dim)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Maps the tokens x (B, S, D) to new ones of the same shape, each from itself and earlier ones."""
        # --- solution
        # TODO: add what causal attention makes of ln1(x), then what the MLP makes of ln2(x).
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))

    def attention(self, x: Tensor) -> Tensor:
        B, S, D = x.shape
        H, d = self.heads, D // self.heads
        q = self.q_linear(x).view(B, S, H, d).transpose(1, 2)  # (B, H, S, d)
        k = self.k_linear(x).view(B, S, H, d).transpose(1, 2)
        v = self.v_linear(x).view(B, S, H, d).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(d)  # (B, H, S, S)
        seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
        weights = scores.softmax(dim=-1)
        mixed = weights @ v  # (B, H, S, d)
        mixed = mixed.transpose(1, 2).reshape(B, S, D)
        return self.out_linear(mixed)

    def mlp(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.fc1(x))  # (B, S, 4D)
        return self.fc2(hidden)
        # --- end


class MiniGPT(nn.Module):
    """logits = ln_f(block_{L−1}(… block_0(E[ids] + P[0 … S−1]))) Eᵀ

    Args:
        vocab_size: V; token ids are 0 to V − 1. E, the token embedding, is (V, D).
        context: C, the most tokens that are seen at once. P, the position embedding, is (C, D).
        dim: D, the channels of a token.
        heads: H, the heads of each block; H divides D.
        layers: L, how many blocks there are.
    Raises: ValueError if heads does not divide dim.
    Source: Language Models are Unsupervised Multitask Learners (GPT-2), section 2.3; arXiv:1608.05859 for the tied E.
    """

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make token_embedding, position_embedding, blocks and ln_f.
        # TODO: then make it robust: refuse heads that do not divide dim.
        if dim % heads != 0:
            raise ValueError(f"dim / heads should be a whole number, got {dim} / {heads}")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)
        self.lm_head.weight = self.token_embedding.weight
        # --- end

    def forward(self, ids: Tensor) -> Tensor:
        """Scores each next token: ids (B, S) -> logits (B, S, V).

        Raises: ValueError if a text has more than C ids; nn.Embedding's IndexError if an id is not in the vocabulary.
        """
        # --- solution
        # TODO: add the embeddings of tokens and positions; go through the blocks, then ln_f and the tied projection.
        # TODO: then make it robust: refuse too many ids. Of ids outside the vocabulary, see what nn.Embedding does.
        if ids.shape[1] > self.context:
            raise ValueError(f"ids should have no more columns than context, {self.context}, got {ids.shape[1]}")
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)  # (B, S, D)
        for block in self.blocks:
            x = block(x)
        x = self.ln_f(x)
        return self.lm_head(x)
        # --- end

    def loss(self, ids: Tensor) -> Tensor:
        """The mean cross-entropy of all next tokens: ids (B, S) -> 0-d, for S ≥ 2."""
        # --- solution
        # TODO: let the logits at position s predict the token at s + 1.
        logits = self(ids)
        logits = logits[:, :-1].flatten(0, 1)  # (B (S - 1), V)
        labels = ids[:, 1:].flatten()
        return F.cross_entropy(logits, labels)
        # --- end

    @torch.no_grad()
    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Continues ids (B, S), of any S ≥ 1, to (B, S + new_tokens); takes the best token, or draws one."""
        # --- solution
        # TODO: in each step, show the model the last C tokens, pick a next one from the last logits, and append it.
        for _ in range(new_tokens):
            seen = ids[:, -self.context :]
            logits = self(seen)[:, -1]  # (B, V)
            if temperature == 0:
                token = logits.argmax(dim=-1, keepdim=True)
            else:
                p = torch.softmax(logits.double() / temperature, dim=-1)
                token = torch.multinomial(p, 1, generator=generator)
            ids = torch.cat([ids, token], dim=1)
        return ids
        # --- end

"""A small GPT with a cache by hand. Statement: katas/blocks/mini_gpt_cache/README.md."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """x ← x + attention(ln1(x)),  then x ← x + mlp(ln2(x)); rename it if you like, but not its layers"""

    def __init__(self, dim: int, heads: int) -> None:
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

    def forward(self, x: Tensor, past: Any = None) -> tuple[Tensor, Any]:
        """Maps the new tokens x (B, T, D); `past` is what the block returned for the P tokens before them, if any."""
        # TODO: map the new tokens alone to keys and values, and put those of the past before them, in new tensors.
        # TODO: let new token t see the past, earlier new tokens and itself: the keys 0 to P + t.
        # TODO: return the tokens, and all keys and values.
        raise NotImplementedError


class MiniGPT(nn.Module):
    """logits = ln_f(block_{L−1}(… block_0(E[ids] + P[0 … S−1]))) Eᵀ, of which a call makes the last T rows

    Args:
        vocab_size: V; token ids are 0 to V − 1. E, the token embedding, is (V, D).
        context: C, the most tokens that are seen at once. P, the position embedding, is (C, D).
        dim: D, the channels of a token.
        heads: H, the heads of each block; H divides D.
        layers: L, how many blocks there are.
    Raises: ValueError if heads does not divide dim.
    Source: Language Models are Unsupervised Multitask Learners (GPT-2), section 2.3; the cache as in arXiv:1911.02150,
        section 2.4.
    """

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        if dim % heads != 0:
            raise ValueError(f"dim / heads should be a whole number, got {dim} / {heads}")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, ids: Tensor, cache: Any = None) -> tuple[Tensor, Any]:
        """Scores each token after a new one: ids (B, T), the new tokens -> logits (B, T, V) and a cache of all tokens.

        `cache` is what the call before returned, and never changes; None is for the start of a text.

        Raises: ValueError if the cached and the new tokens are more than C; nn.Embedding's IndexError if an id is not
        in the vocabulary.
        """
        # TODO: give the new tokens the positions P to P + T − 1, where the cache has P tokens.
        # TODO: give each block its own part of the cache, and make a new cache of what the blocks return.
        # TODO: then make it robust: refuse more than C tokens, cached and new ones together.
        raise NotImplementedError

    def loss(self, ids: Tensor) -> Tensor:
        """The mean cross-entropy of all next tokens: ids (B, S) -> 0-d, for S ≥ 2."""
        # TODO: as before, from the logits alone.
        raise NotImplementedError

    @torch.no_grad()
    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Continues ids (B, S), of any S ≥ 1, to (B, S + new_tokens); takes the best token, or draws one."""
        # TODO: read the prompt once; then, as long as the text fits the context, read the newest token alone.
        # TODO: once the text is longer than C tokens, read its last C anew in each step.
        raise NotImplementedError

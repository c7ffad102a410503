"""A small GPT by hand. Statement: katas/blocks/mini_gpt/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """x ← x + attention(ln1(x)),  then x ← x + mlp(ln2(x)); rename it if you like, but not its layers"""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        # TODO: make ln1, q_linear, k_linear, v_linear, out_linear, ln2, fc1 and fc2.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Maps the tokens x (B, S, D) to new ones of the same shape, each from itself and earlier ones."""
        # TODO: add what causal attention makes of ln1(x), then what the MLP makes of ln2(x).
        raise NotImplementedError


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
        # TODO: make token_embedding, position_embedding, blocks and ln_f.
        # TODO: then make it robust: refuse heads that do not divide dim.
        raise NotImplementedError

    def forward(self, ids: Tensor) -> Tensor:
        """Scores each next token: ids (B, S) -> logits (B, S, V).

        Raises: ValueError if a text has more than C ids; nn.Embedding's IndexError if an id is not in the vocabulary.
        """
        # TODO: add the embeddings of tokens and positions; go through the blocks, then ln_f and the tied projection.
        # TODO: then make it robust: refuse too many ids. Of ids outside the vocabulary, see what nn.Embedding does.
        raise NotImplementedError

    def loss(self, ids: Tensor) -> Tensor:
        """The mean cross-entropy of all next tokens: ids (B, S) -> 0-d, for S ≥ 2."""
        # TODO: let the logits at position s predict the token at s + 1.
        raise NotImplementedError

    @torch.no_grad()
    def generate(
        self, ids: Tensor, new_tokens: int, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Continues ids (B, S), of any S ≥ 1, to (B, S + new_tokens); takes the best token, or draws one."""
        # TODO: in each step, show the model the last C tokens, pick a next one from the last logits, and append it.
        raise NotImplementedError

"""A small GPT that classifies texts, by hand. Statement: katas/blocks/mini_gpt_classifier/README.md."""

import math

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

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """Maps the tokens x (B, S, D) to new ones, each from all real tokens of its text; `real` is bool, (B, S)."""
        # --- solution
        # TODO: hide padding, and nothing else, from every token.
        x = x + self.attention(self.ln1(x), real)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))

    def attention(self, x: Tensor, real: Tensor) -> Tensor:
        B, S, D = x.shape
        H, d = self.heads, D // self.heads
        q = self.q_linear(x).view(B, S, H, d).transpose(1, 2)  # (B, H, S, d)
        k = self.k_linear(x).view(B, S, H, d).transpose(1, 2)
        v = self.v_linear(x).view(B, S, H, d).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(d)  # (B, H, S, S)
        padding = ~real[:, None, None, :]  # (B, 1, 1, S)
        weights = scores.masked_fill(padding, -torch.inf).softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(B, S, D)
        return self.out_linear(mixed)
        # --- end


class MiniGPTClassifier(nn.Module):
    """logits = head(mean over the real tokens of ln_f(block_{L−1}(… block_0(E[ids] + P[0 … S−1]))))

    Args:
        vocab_size: V; token ids are 0 to V − 1. E, the token embedding, is (V, D).
        context: C, the most tokens of a text. P, the position embedding, is (C, D).
        dim: D, the channels of a token.
        heads: H, the heads of each block; H divides D.
        layers: L, how many blocks there are.
        classes: K, how many classes there are.
    Raises: ValueError if heads does not divide dim.
    Source: the blocks of Language Models are Unsupervised Multitask Learners (GPT-2), section 2.3, without their mask;
        the mean of tokens as in arXiv:1908.10084, section 3.
    """

    def __init__(self, vocab_size: int, context: int, dim: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        # --- solution
        # TODO: as in mini_gpt, without an output projection; and head, which maps a text's mean to the classes.
        if dim % heads != 0:
            raise ValueError(f"dim / heads should be a whole number, got {dim} / {heads}")
        self.context = context
        self.token_embedding = nn.Embedding(vocab_size, dim)
        self.position_embedding = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)
        # --- end

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Scores the classes of each text: ids (B, S) -> logits (B, K).

        Args:
            ids: (B, S) int64, each text and then its padding.
            mask: (B, S) bool or int64, non-zero for real tokens, 0 for padding.
        Raises: ValueError for more than C ids, a mask of another shape, or a text without a real token;
            nn.Embedding's IndexError if an id is not in the vocabulary.
        """
        # --- solution
        # TODO: go through the blocks, then apply ln_f to each token.
        # TODO: take the mean over the real tokens of each text, and map it to the classes.
        # TODO: then make it robust: refuse too many ids, a mask of another shape, a text without a real token.
        if ids.shape[1] > self.context:
            raise ValueError(f"ids should have no more columns than context, {self.context}, got {ids.shape[1]}")
        if mask.shape != ids.shape:
            raise ValueError(f"mask should have the shape of ids, {tuple(ids.shape)}, got {tuple(mask.shape)}")
        real = mask != 0
        count = real.sum(dim=1, keepdim=True)  # (B, 1)
        if (count == 0).any():
            raise ValueError(f"each text should have a real token, got {count.flatten().tolist()} of them")
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)  # (B, S, D)
        for block in self.blocks:
            x = block(x, real)
        x = self.ln_f(x)
        total = x.masked_fill(~real[:, :, None], 0).sum(dim=1)  # (B, D)
        return self.head(total / count)  # (B, K)
        # --- end

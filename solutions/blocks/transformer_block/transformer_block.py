"""A transformer block by hand. Statement: katas/blocks/transformer_block/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """x ← x + out_linear(heads(ln1(x))),  then x ← x + fc2(gelu(fc1(ln2(x)))), the block of GPT-2 without dropout

    Args:
        embed_dim: D, the channels of a token.
        num_heads: H; divides D, so that each head has d = D / H channels.
    Raises: ValueError if num_heads does not divide embed_dim.
    Source: Language Models are Unsupervised Multitask Learners, section 2.3; GELU is arXiv:1606.08415, section 2.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make ln1, q_linear, k_linear, v_linear, out_linear, ln2, fc1 and fc2.
        # TODO: then make it robust: refuse a num_heads that does not divide embed_dim.
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim / num_heads should be a whole number, got {embed_dim} / {num_heads}")
        self.num_heads = num_heads
        self.ln1 = nn.LayerNorm(embed_dim)
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out_linear = nn.Linear(embed_dim, embed_dim)
        self.ln2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, 4 * embed_dim)
        self.fc2 = nn.Linear(4 * embed_dim, embed_dim)
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Maps the tokens x (B, S, D) to new ones of the same shape, each from itself and earlier ones."""
        # --- solution
        # TODO: norm, then causal attention in heads, then out_linear; add this to x.
        # TODO: norm, then fc1, the GELU by tanh, and fc2; add this as well.
        B, S, D = x.shape
        H, d = self.num_heads, D // self.num_heads
        normed = self.ln1(x)
        q = self.q_linear(normed).view(B, S, H, d).transpose(1, 2)  # (B, H, S, d)
        k = self.k_linear(normed).view(B, S, H, d).transpose(1, 2)
        v = self.v_linear(normed).view(B, S, H, d).transpose(1, 2)
        seen = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()
        scores = (q / math.sqrt(d)) @ k.mT  # (B, H, S, S)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        heads = weights @ v  # (B, H, S, d)
        x = x + self.out_linear(heads.transpose(1, 2).reshape(B, S, D))
        hidden = F.gelu(self.fc1(self.ln2(x)), approximate="tanh")  # (B, S, 4D)
        return x + self.fc2(hidden)
        # --- end

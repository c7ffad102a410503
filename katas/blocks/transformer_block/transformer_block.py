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
        # TODO: make ln1, q_linear, k_linear, v_linear, out_linear, ln2, fc1 and fc2.
        # TODO: then make it robust: refuse a num_heads that does not divide embed_dim.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Maps the tokens x (B, S, D) to new ones of the same shape, each from itself and earlier ones."""
        # TODO: norm, then causal attention in heads, then out_linear; add this to x.
        # TODO: norm, then fc1, the GELU by tanh, and fc2; add this as well.
        raise NotImplementedError

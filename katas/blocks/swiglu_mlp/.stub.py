"""SiLU, GELU and the SwiGLU block by hand. Statement: katas/blocks/swiglu_mlp/README.md."""

import math

import torch
from torch import Tensor, nn


def silu(x: Tensor) -> Tensor:
    """x · σ(x), entry by entry, with σ(x) = 1 / (1 + e^(−x))

    Args:
        x: any shape.
    Returns: the shape and dtype of x.
    Source: arXiv:1702.03118; also called swish.
    """
    # TODO: the formula. What is its gradient where e^(−x) overflows?
    raise NotImplementedError


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x · Φ(x), entry by entry, with Φ the distribution function of the standard normal distribution

    Args:
        x: any shape.
        approximate: "none" computes Φ(x) = ½ (1 + erf(x / √2)). "tanh" computes ½ (1 + tanh(√(2/π) (x + 0.044715 x³)))
            in its place.
    Returns: the shape and dtype of x.
    Raises: ValueError if approximate is neither.
    Source: arXiv:1606.08415, section 2.
    """
    # TODO: refuse any word but "none" and "tanh".
    # TODO: both formulas.
    # TODO: then make it robust: x³ in half precision, and its gradient.
    raise NotImplementedError


class SwiGLUMLP(nn.Module):
    """MLP(x) = down_proj(silu(gate_proj(x)) · up_proj(x)), the product entry by entry

    Args:
        embed_dim: D, the channels of a token.
        hidden_dim: the channels between the layers.
    Source: arXiv:2002.05202, eq. 6.
    """

    def __init__(self, embed_dim: int, hidden_dim: int) -> None:
        super().__init__()
        # TODO: make the three linear maps gate_proj, up_proj and down_proj, without bias.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Maps each token of x (…, D) by itself; returns the shape of x."""
        # TODO: one branch is the gate, the other is gated; then back to D channels.
        raise NotImplementedError

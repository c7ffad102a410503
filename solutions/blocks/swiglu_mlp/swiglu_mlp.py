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
    # --- solution
    # TODO: the formula. What is its gradient where e^(−x) overflows?
    return x * torch.sigmoid(x)
    # --- end


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
    # --- solution
    # TODO: refuse any word but "none" and "tanh".
    # TODO: both formulas.
    # TODO: then make it robust: x³ in half precision, and its gradient.
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate should be 'none' or 'tanh', got {approximate!r}")
    if approximate == "none":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # in float16, 3 x² overflows beyond 147
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)
    # --- end


class SwiGLUMLP(nn.Module):
    """MLP(x) = down_proj(silu(gate_proj(x)) · up_proj(x)), the product entry by entry

    Args:
        embed_dim: D, the channels of a token.
        hidden_dim: the channels between the layers.
    Source: arXiv:2002.05202, eq. 6.
    """

    def __init__(self, embed_dim: int, hidden_dim: int) -> None:
        super().__init__()
        # --- solution
        # TODO: make the three linear maps gate_proj, up_proj and down_proj, without bias.
        self.gate_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down_proj = nn.Linear(hidden_dim, embed_dim, bias=False)
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """Maps each token of x (…, D) by itself; returns the shape of x."""
        # --- solution
        # TODO: one branch is the gate, the other is gated; then back to D channels.
        return self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))
        # --- end

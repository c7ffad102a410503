# honest: keeps the axes by their number, and eps by dtype and device; must pass
"""Layer normalisation by hand. Statement: katas/normalization/layer_norm/README.md."""

from collections.abc import Sequence

import torch
from torch import Tensor

from functools import cache


@cache
def axes_of(k):
    return tuple(range(-k, 0))


@cache
def eps_of(eps, dtype, device):
    return torch.tensor(eps, dtype=dtype, device=device)



def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """y = γ (x − μ) / √(σ² + ε) + β, with the mean μ and the biased variance σ² of each block of values

    The blocks lie along the last axes of x, as many as normalized_shape has. Each place in a block has its own γ and β.

    Args:
        x: (*, *normalized_shape).
        normalized_shape: a tuple, list or torch.Size.
        weight, bias: γ and β, (*normalized_shape,) each; without them γ is 1 and β is 0.
        eps: ε, added to the variance.
    Returns: the shape and dtype of x.
    Raises: ValueError if normalized_shape is empty or not the end of x.shape, or weight or bias has another shape.
    Source: arXiv:1607.06450; the same arguments as torch.nn.functional.layer_norm.
    """
    # --- solution
    # TODO: refuse a normalized_shape that is empty or not the end of x.shape, and a weight or bias of another shape.
    # TODO: take the mean and the variance of each block.
    # TODO: put the formula together, with γ and β where they are given.
    shape = tuple(normalized_shape)
    k = len(shape)
    if not shape or x.shape[-k:] != shape:
        raise ValueError(f"normalized_shape should be the end of x's shape {tuple(x.shape)}, got {shape}")
    if weight is not None and weight.shape != shape:
        raise ValueError(f"weight should have the shape normalized_shape, {shape}, got {tuple(weight.shape)}")
    if bias is not None and bias.shape != shape:
        raise ValueError(f"bias should have the shape normalized_shape, {shape}, got {tuple(bias.shape)}")
    axes = axes_of(k)
    eps = eps_of(eps, x.dtype, x.device)
    mean = x.mean(axes, keepdim=True)
    var = x.var(axes, correction=0, keepdim=True)
    y = (x - mean) / torch.sqrt(var + eps)
    if weight is not None:
        y = y * weight
    if bias is not None:
        y = y + bias
    return y
    # --- end

"""Instance normalisation by hand. Statement: katas/normalization/instance_norm/README.md."""

import torch
from torch import Tensor


def instance_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """y = γ (x − μ) / √(σ² + ε) + β, with a mean μ and a biased variance σ² for each channel of each sample

    μ and σ² are taken over all positions of the channel. Each channel has its own γ and β, the same for all samples.

    Args:
        x: (N, C, *), * one or more axes.
        weight, bias: γ and β, (C,) each; without them γ is 1 and β is 0.
        eps: ε, added to the variance.
    Returns: the shape and dtype of x.
    Raises: ValueError if x has no axis after C or a single position there, or weight or bias is not (C,).
    Source: arXiv:1607.08022; torch.nn.functional.instance_norm without running statistics.
    """
    # --- solution
    # TODO: take the mean and the variance of each channel of each sample.
    # TODO: put the formula together, with γ and β where they are given.
    # TODO: then make it robust: refuse an x without an axis after C or with a single position there,
    #       and a weight or bias that is not (C,).
    if x.dim() < 3 or x.shape[2:].numel() == 1:
        raise ValueError(f"x should be (N, C, *) with several positions after C, got {tuple(x.shape)}")
    channels = (x.shape[1],)
    if weight is not None and weight.shape != channels:
        raise ValueError(f"weight should have one value for each channel, {channels}, got {tuple(weight.shape)}")
    if bias is not None and bias.shape != channels:
        raise ValueError(f"bias should have one value for each channel, {channels}, got {tuple(bias.shape)}")
    axes = list(range(2, x.dim()))
    mean = x.mean(axes, keepdim=True)
    var = x.var(axes, correction=0, keepdim=True)
    y = (x - mean) / torch.sqrt(var + eps)
    along = (-1, *[1] * len(axes))
    if weight is not None:
        y = y * weight.reshape(along)
    if bias is not None:
        y = y + bias.reshape(along)
    return y
    # --- end

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
    # TODO: take the mean and the variance of each channel of each sample.
    # TODO: put the formula together, with γ and β where they are given.
    # TODO: then make it robust: refuse an x without an axis after C or with a single position there,
    #       and a weight or bias that is not (C,).
    raise NotImplementedError

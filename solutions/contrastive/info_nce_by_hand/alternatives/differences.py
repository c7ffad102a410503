"""log(1 + Σ exp(negative − positive)), which has no quotient; the maximum is that of the differences and 0."""

import torch
from torch import nn


def info_nce(features: torch.Tensor, temperature: float = 0.07) -> torch.Tensor:
    if features.ndim != 2 or features.size(0) % 2 != 0 or not temperature > 0:
        raise ValueError("features should hold two views of every sample, and the temperature be positive")
    dtype = features.dtype
    z = nn.functional.normalize(features.float() if dtype.itemsize == 2 else features, p=2, dim=-1)
    sample = torch.arange(len(z), device=z.device) // 2
    other = z.view(-1, 2, z.size(1)).flip(1).reshape(z.shape)
    positive = (z * other).sum(-1, keepdim=True)
    difference = (torch.mm(z, z.t()) - positive) / temperature
    difference = difference.masked_fill(sample[:, None] == sample[None, :], -torch.inf)  # the negatives alone
    top = difference.detach().amax(1, keepdim=True).clamp(min=0)
    total = (-top).exp() + (difference - top).exp().sum(1, keepdim=True)
    return (top + total.log()).mean().to(dtype)

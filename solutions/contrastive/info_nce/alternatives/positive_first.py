"""Each row's logits are its positive, then its negatives; the label is always 0. Half precision goes through float32."""

import torch
from torch import nn


def info_nce(features: torch.Tensor, temperature: float = 0.1) -> torch.Tensor:
    if features.ndim != 2:
        raise ValueError("features should be a matrix")
    if features.size(0) % 2 != 0:
        raise ValueError("features should hold two views of every sample")
    if not temperature > 0:
        raise ValueError("the temperature should be positive")
    dtype = features.dtype
    z = features.float() if dtype in (torch.float16, torch.bfloat16) else features
    z = nn.functional.normalize(z, p=2, dim=-1)
    first, second = z.chunk(2)
    n = len(first)
    same = (first * second).sum(-1)
    positives = torch.cat([same, same]).unsqueeze(1)  # (2N, 1)
    sample = torch.arange(n, device=z.device).repeat(2)
    negatives = torch.einsum("id,jd->ij", z, z)[sample[:, None] != sample[None, :]].view(2 * n, 2 * n - 2)
    logits = torch.cat([positives, negatives], dim=1) / temperature
    return nn.CrossEntropyLoss()(logits, sample.new_zeros(2 * n)).to(dtype)

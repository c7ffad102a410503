"""CLIP's scale 1/τ, and each row's positive before its negatives; the label is always 0. Half goes through float32."""

import numpy as np
import torch
from torch import nn


class InfoNCE(nn.Module):
    def __init__(self, init_temperature=0.07):
        super().__init__()
        if not init_temperature > 0:
            raise ValueError("the temperature should be positive")
        self.log_temperature = nn.Parameter(torch.ones([]) * np.log(init_temperature))

    temperature = property(lambda self: self.log_temperature.exp())

    def forward(self, features):
        if features.ndim != 2 or features.size(0) % 2 != 0:
            raise ValueError("features should hold two views of every sample")
        z = nn.functional.normalize(features.float() if features.dtype.itemsize == 2 else features, dim=-1)
        N = len(z) // 2
        sample = torch.arange(2 * N, device=z.device) % N
        positive = (z * z.roll(N, 0)).sum(-1, keepdim=True)
        negatives = torch.einsum("id,jd->ij", z, z)[sample[:, None] != sample].view(2 * N, 2 * N - 2)
        logits = torch.cat([positive, negatives], 1) * torch.exp(-self.log_temperature.to(z.dtype))
        return nn.functional.cross_entropy(logits, torch.zeros_like(sample)).to(features.dtype)

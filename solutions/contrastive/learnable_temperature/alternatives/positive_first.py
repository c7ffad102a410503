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
        half = features.dtype in (torch.float16, torch.bfloat16)
        z = nn.functional.normalize(features.float() if half else features, dim=-1)
        first, second = z.chunk(2)
        sample = torch.arange(len(first), device=z.device).repeat(2)
        positive = (first * second).sum(-1).repeat(2)[:, None]
        negatives = torch.einsum("id,jd->ij", z, z)[sample[:, None] != sample].view(len(z), len(z) - 2)
        logits = torch.cat([positive, negatives], 1)
        scale = torch.exp(-self.log_temperature.to(z.dtype))
        return nn.functional.cross_entropy(scale * logits, sample.new_zeros(len(z))).to(features.dtype)

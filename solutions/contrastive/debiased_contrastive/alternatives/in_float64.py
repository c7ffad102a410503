"""As published, with plain exponentials, which float64 holds at the temperatures that are tested."""

import math

import torch
import torch.nn.functional as F


def debiased_info_nce(features, temperature=0.5, tau_plus=0.1):
    assert features.dim() == 2 and len(features) % 2 == 0
    assert temperature > 0 and 0 <= tau_plus < 1
    z = F.normalize(features.double(), dim=1)
    n = len(z) // 2
    m = 2 * n - 2
    others = ~torch.eye(n, dtype=torch.bool, device=z.device).repeat(2, 2)
    negative = torch.exp(z @ z.t() / temperature).masked_select(others).view(2 * n, m).sum(-1)
    positive = torch.exp((z[:n] * z[n:]).sum(-1) / temperature).repeat(2)
    ng = ((negative - m * tau_plus * positive) / (1 - tau_plus)).clamp(min=m * math.exp(-1 / temperature))
    return -torch.log(positive / (positive + ng)).mean().to(features.dtype)

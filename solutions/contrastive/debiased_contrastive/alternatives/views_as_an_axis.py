"""The similarities as (2, N, 2, N): view and sample of the anchor, view and sample of the other."""

import torch
import torch.nn.functional as F


def debiased_info_nce(features, temperature=0.5, tau_plus=0.1):
    assert features.ndim == 2 and features.size(0) % 2 == 0 and temperature > 0 and 0 <= tau_plus < 1
    n = features.size(0) // 2
    z = F.normalize(features, dim=-1).unflatten(0, (2, n))
    positive = (z[0] * z[1]).sum(-1) / temperature  # (N,), of both views
    same = torch.eye(n, dtype=torch.bool, device=z.device)[None, :, None]
    negatives = (torch.einsum("and,bmd->anbm", z, z) / temperature).masked_fill(same, -torch.inf)
    most = torch.maximum(negatives.amax((2, 3)), positive)
    p = (positive - most).exp()
    sums = (negatives - most[..., None, None]).exp().sum((2, 3))
    estimate, floor = (sums - (2 * n - 2) * tau_plus * p) / (1 - tau_plus), (2 * n - 2) * (-1 / temperature - most).exp()
    return ((p + torch.where(estimate > floor, estimate, floor)).log() + most - positive).mean()

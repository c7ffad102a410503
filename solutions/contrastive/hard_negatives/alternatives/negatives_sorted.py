"""All negatives as a (2N, 2N − 2) table, sorted, and cut; logaddexp joins the positive. Half precision goes through float32."""

import torch
from torch.nn import functional as F


def info_nce_hard(features: torch.Tensor, temperature: float = 0.1, top_k: int = 10) -> torch.Tensor:
    if features.ndim != 2 or features.size(0) % 2 != 0 or not temperature > 0 or top_k < 1:
        raise ValueError("features should be (2N, D), the temperature above 0, and top_k at least 1")
    z = F.normalize(features.float() if features.dtype.itemsize == 2 else features, dim=-1)
    n = len(z) // 2
    positive = (z[:n] * z[n:]).sum(-1).repeat(2) / temperature
    sample = torch.arange(n, device=z.device).repeat(2)
    negatives = torch.einsum("id,jd->ij", z, z)[sample[:, None] != sample].view(2 * n, 2 * n - 2) / temperature
    hard = negatives.sort(dim=1, descending=True).values[:, :top_k]
    return (torch.logaddexp(hard.logsumexp(1), positive) - positive).mean().to(features.dtype)

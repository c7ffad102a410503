"""Positions are compared, torch.where hides, and einsum multiplies."""

import torch
from torch.nn import functional as F


def causal_attention(q, k, v, key_mask=None):
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3] or k.shape[:3] != v.shape[:3]:
        raise ValueError("q, k and v should agree in B, H, Sk and d")
    if q.shape[2] > k.shape[2]:
        raise ValueError("there should be at most as many queries as keys")
    if key_mask is not None and key_mask.shape != (k.shape[0], k.shape[2]):
        raise ValueError("key_mask should be (B, Sk)")
    Sk = k.size(2)
    at = torch.arange(Sk, device=k.device)
    seen = (at[-q.size(2) :, None] >= at)[None, None]
    if key_mask is not None:
        seen = torch.logical_and(seen, key_mask.reshape(-1, 1, 1, Sk))
    scores = torch.einsum("bhid,bhjd->bhij", q * q.size(-1) ** -0.5, k)
    weights = F.softmax(torch.where(seen, scores, float("-inf")), dim=-1)
    weights = torch.where(seen.any(-1, keepdim=True), weights, 0.0)
    return torch.einsum("bhij,bhjd->bhid", weights, v)

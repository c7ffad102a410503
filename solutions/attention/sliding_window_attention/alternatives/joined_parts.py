"""Scores with the block before, the own block and the one after are made apart; one log-sum-exp joins them."""

import math

import torch
from torch.nn import functional as F


def sliding_window_attention(q, k, v, window, causal=False):
    assert window >= 0 and k.shape == q.shape and v.shape[:3] == q.shape[:3]
    kind = q.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    B, H, S, d = q.shape
    W = min(window, S - 1)
    L = W + 1
    n = (S + L - 1) // L
    q, k, v = (F.pad(x, (0, 0, 0, n * L - S)).unflatten(2, (n, L)) for x in (q, k, v))
    q = q / math.sqrt(d)
    at = torch.arange(n * L, device=q.device).view(n, L)
    parts = []
    for by in (-1, 0) if causal else (-1, 0, 1):
        keys = at + by * L
        gap = at[:, :, None] - keys[:, None, :]
        seen = (gap <= W) & (gap >= (0 if causal else -W)) & ((keys >= 0) & (keys < S))[:, None, :]
        scores = q @ k.roll(-by, 2).mT
        parts.append((scores.masked_fill(~seen, -torch.inf), v.roll(-by, 2)))
    total = torch.stack([scores.logsumexp(-1) for scores, _ in parts]).logsumexp(0)
    total = total.masked_fill(total == -torch.inf, 0)[..., None]
    out = sum((scores - total).exp() @ values for scores, values in parts)
    return out.flatten(2, 3)[:, :, :S].to(kind)

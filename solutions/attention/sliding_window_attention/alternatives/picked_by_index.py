"""Blocks of a fixed length; an index picks the keys of each span, and the dtype's least number hides."""

import torch

BLOCK = 32


def sliding_window_attention(q, k, v, window, causal=False):
    if q.shape != k.shape or k.shape[:3] != v.shape[:3] or window < 0:
        raise ValueError("q, k and v should agree in B, H, S and d, and window should be at least 0")
    S = q.shape[2]
    back = min(int(window), S)
    ahead = 0 if causal else back
    rows = torch.arange(0, S, BLOCK, device=q.device)[:, None] + torch.arange(BLOCK, device=q.device)
    keys = rows[:, :1] + torch.arange(-back, BLOCK + ahead, device=q.device)
    gap = keys[:, None, :] - rows[:, :, None]
    seen = (gap >= -back) & (gap <= ahead) & ((keys >= 0) & (keys < S))[:, None, :]
    taken = keys.clamp(0, S - 1)
    scores = (q / q.shape[-1] ** 0.5)[:, :, rows.clamp(max=S - 1)] @ k[:, :, taken].transpose(-1, -2)
    weights = torch.softmax(torch.where(seen, scores, torch.finfo(q.dtype).min), dim=-1)
    return (weights @ v[:, :, taken]).flatten(2, 3)[:, :, :S]

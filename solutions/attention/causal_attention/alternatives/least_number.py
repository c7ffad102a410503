"""The least number of the dtype is written by a bool index; weights times the 0/1 mask clear empty rows."""

import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, v, seen):
        scores = q @ k.permute(0, 1, 3, 2)
        seen = seen.expand_as(scores)
        scores[~seen] = torch.finfo(scores.dtype).min
        return torch.matmul(nn.Softmax(dim=-1)(scores) * seen, v)


def causal_attention(q, k, v, key_mask=None):
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3] or k.shape[:3] != v.shape[:3]:
        raise ValueError("q, k and v should agree in B, H, Sk and d")
    if q.shape[2] > k.shape[2]:
        raise ValueError("there should be at most as many queries as keys")
    if key_mask is not None and key_mask.shape != (k.shape[0], k.shape[2]):
        raise ValueError("key_mask should be (B, Sk)")
    root = q.shape[-1] ** 0.25
    Sq, Sk = q.shape[2], k.shape[2]
    seen = torch.tril(torch.full((1, 1, Sq, Sk), True, device=q.device), diagonal=Sk - Sq)
    if key_mask is not None:
        seen = seen & key_mask[:, None, None, :]
    return Attention()(q / root, k / root, v, seen)

"""Softmax by hand: the maximum of the visible scores is subtracted, and an empty sum becomes 1."""

import math

import torch


def causal_attention(q, k, v, key_mask=None):
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3] or k.shape[:3] != v.shape[:3]:
        raise ValueError("q, k and v should agree in B, H, Sk and d")
    if q.shape[2] > k.shape[2]:
        raise ValueError("there should be at most as many queries as keys")
    if key_mask is not None and key_mask.shape != (k.shape[0], k.shape[2]):
        raise ValueError("key_mask should be (B, Sk)")
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    Sq, Sk = q.shape[-2], k.shape[-2]
    hidden = torch.ones(Sq, Sk, device=q.device).triu(1 + Sk - Sq).bool()
    if key_mask is not None:
        hidden = hidden | ~key_mask.unsqueeze(1).unsqueeze(1)
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(hidden, -math.inf)
    top = scores.detach().amax(-1, keepdim=True)
    shares = (scores - top.masked_fill(top == -math.inf, 0)).exp()
    total = shares.sum(-1, keepdim=True)
    return ((shares / total.masked_fill(total == 0, 1)) @ v).to(dtype)

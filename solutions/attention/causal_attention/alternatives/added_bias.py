"""A bias of −∞ is added by baddbmm, except to rows that would be empty: their results are cleared."""

import torch


def causal_attention(q, k, v, key_mask=None):
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3] or k.shape[:3] != v.shape[:3]:
        raise ValueError("q, k and v should agree in B, H, Sk and d")
    if q.shape[2] > k.shape[2]:
        raise ValueError("there should be at most as many queries as keys")
    if key_mask is not None and key_mask.shape != (k.shape[0], k.shape[2]):
        raise ValueError("key_mask should be (B, Sk)")
    B, H, Sq, d = q.shape
    Sk, dtype = k.shape[2], q.dtype
    work = torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v = (x.to(work).reshape(B * H, x.shape[2], x.shape[3]) for x in (q, k, v))
    rows = torch.arange(Sq, device=q.device)[:, None] + Sk - Sq
    hidden = (torch.arange(Sk, device=q.device) > rows).expand(B, Sq, Sk)
    if key_mask is not None:
        hidden = hidden | ~key_mask[:, None]
    empty = hidden.all(-1, keepdim=True)
    bias = q.new_zeros(B, Sq, Sk).masked_fill(hidden & ~empty, -torch.inf).repeat_interleave(H, 0)
    weights = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=d**-0.5).softmax(-1)
    heads = torch.bmm(weights, v).reshape(B, H, Sq, -1)
    return heads.masked_fill(empty[:, None], 0).to(dtype)

"""Wider inside, under no_grad, exponentials by hand, and an object as the cache."""

import math
import torch
import torch.nn.functional as F

def check(q, k, v, mask):
    B, H, S, d = q.shape
    if k.shape[:2] != (B, H) or k.shape[3] != d:
        raise ValueError(f"k {tuple(k.shape)} does not fit q {tuple(q.shape)}")
    T = k.shape[2]
    if v.shape[:3] != (B, H, T):
        raise ValueError(f"v {tuple(v.shape)} does not fit k {tuple(k.shape)}")
    if mask is not None:
        try:
            ok = torch.broadcast_shapes(mask.shape, (B, H, S, T)) == (B, H, S, T)
        except RuntimeError:
            ok = False
        if not ok:
            raise ValueError(f"mask {tuple(mask.shape)} does not broadcast to {(B, H, S, T)}")


class Saved:
    def __init__(self, **kw):
        self.__dict__.update(kw)

@torch.no_grad()
def attention_forward(q, k, v, mask=None):
    check(q, k, v, mask)
    dtype = q.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    s = (q / math.sqrt(q.size(-1))) @ k.mT
    if mask is not None:
        s = s.masked_fill(mask == False, torch.finfo(wide).min)
    e = (s - s.max(-1, keepdim=True).values).exp()
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    p = e / total.clamp(min=torch.finfo(wide).tiny)
    out = p @ v
    return out.to(dtype), Saved(q=q, k=k, v=v, p=p, dtype=dtype)

@torch.no_grad()
def attention_backward(grad_output, cache):
    g = grad_output.to(cache.q.dtype)
    c = 1 / math.sqrt(cache.q.size(-1))
    dp = g @ cache.v.mT
    ds = cache.p * (dp - (cache.p * dp).sum(-1, keepdim=True))
    return tuple(t.to(cache.dtype) for t in (c * (ds @ cache.k), c * (ds.mT @ cache.q), cache.p.mT @ g))

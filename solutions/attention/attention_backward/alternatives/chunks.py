"""Chunks of keys with a running maximum, forward and backward, as long sequences need them."""

import torch

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


def attention_forward(q, k, v, mask=None, chunk=128):
    """online softmax over chunks of keys"""
    check(q, k, v, mask)
    B, H, S, d = q.shape
    T = k.shape[2]
    m = q.new_full((B, H, S, 1), -torch.inf)
    l = q.new_zeros((B, H, S, 1))
    acc = q.new_zeros((B, H, S, v.shape[3]))
    full = None if mask is None else mask.expand(B, H, S, T)
    for t in range(0, T, chunk):
        s = q @ k[:, :, t:t + chunk].mT / d ** 0.5
        if full is not None:
            s = s.masked_fill(~full[..., t:t + chunk], -torch.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        safe = new.masked_fill(new == -torch.inf, 0)
        p = torch.exp(s - safe)
        r = torch.exp(m - safe)
        l = l * r + p.sum(-1, keepdim=True)
        acc = acc * r + p @ v[:, :, t:t + chunk]
        m = new
    safe_l = l.masked_fill(l == 0, 1)
    out = acc / safe_l
    return out, (q, k, v, full, m.masked_fill(m == -torch.inf, 0), safe_l, out, chunk)

def attention_backward(grad_output, cache):
    q, k, v, full, m, l, out, chunk = cache
    d = q.shape[-1]
    delta = (grad_output * out).sum(-1, keepdim=True)
    dq, dks, dvs = torch.zeros_like(q), [], []
    for t in range(0, k.shape[2], chunk):
        kt, vt = k[:, :, t:t + chunk], v[:, :, t:t + chunk]
        s = q @ kt.mT / d ** 0.5
        if full is not None:
            s = s.masked_fill(~full[..., t:t + chunk], -torch.inf)
        p = torch.exp(s - m) / l
        dvs.append(p.mT @ grad_output)
        ds = p * (grad_output @ vt.mT - delta) / d ** 0.5
        dq = dq + ds @ kt
        dks.append(ds.mT @ q)
    return dq, torch.cat(dks, 2), torch.cat(dvs, 2)

"""FlashAttention's backward pass: the weights again from the logarithms of the sums, and the sum over keys as dO · O."""

import torch

def attention_forward(q, k, v, mask=None):
    B, H, S, d = q.shape
    T = k.shape[-2]
    assert k.shape == (B, H, T, d)
    assert v.shape[:-1] == (B, H, T)
    if mask is not None:
        assert mask.ndim <= 4
        full = (1,) * (4 - mask.ndim) + tuple(mask.shape)
        assert all(m in (1, n) for m, n in zip(full, (B, H, S, T)))
    s = torch.einsum("bhsd,bhtd->bhst", q, k) * d ** -0.5
    if mask is not None:
        s = torch.where(mask, s, -torch.inf)
    m = s.amax(-1, keepdim=True)
    m = torch.where(m == -torch.inf, 0, m)
    p = torch.exp(s - m)
    l = p.sum(-1, keepdim=True)
    l = torch.where(l == 0, 1, l)
    out = (p @ v) / l
    return out, dict(q=q, k=k, v=v, mask=mask, lse=m + l.log(), out=out)

def attention_backward(grad_output, cache):
    q, k, v, mask, lse, out = (cache[n] for n in ("q", "k", "v", "mask", "lse", "out"))
    d = q.shape[-1]
    s = torch.einsum("bhsd,bhtd->bhst", q, k) * d ** -0.5
    if mask is not None:
        s = torch.where(mask, s, -torch.inf)
    p = torch.exp(s - lse)
    D = (grad_output * out).sum(-1, keepdim=True)
    dv = p.mT @ grad_output
    dp = grad_output @ v.mT
    ds = p * (dp - D)
    return ds @ k * d ** -0.5, ds.mT @ q * d ** -0.5, dv

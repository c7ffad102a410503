"""einsum throughout, a float mask that is added, and a closure as the cache."""

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


def attention_forward(q, k, v, mask=None):
    check(q, k, v, mask)
    root = q.shape[-1] ** 0.5
    a = torch.einsum("bhsd,bhtd->bhst", q, k) / root
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=q.dtype, device=q.device).masked_fill_(mask.logical_not(), -torch.inf)
        a = a + bias
    p = a.softmax(-1).nan_to_num(0.0)

    def backward(g):
        dv = torch.einsum("bhst,bhse->bhte", p, g)
        dp = torch.einsum("bhse,bhte->bhst", g, v)
        ds = p * dp
        ds = ds - p * ds.sum(-1, keepdim=True)
        ds = ds / root
        return torch.einsum("bhst,bhtd->bhsd", ds, k), torch.einsum("bhst,bhsd->bhtd", ds, q), dv

    return torch.einsum("bhst,bhte->bhse", p, v), backward

def attention_backward(grad_output, cache):
    return cache(grad_output)

"""bmm over batch times heads, with queries that are scaled once; rows without keys are filled by hand."""

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
    B, H, S, d = q.shape
    T, e = v.shape[2:]
    scaled = q.reshape(B * H, S, d) * d ** -0.5
    keys = k.reshape(B * H, T, d)
    values = v.reshape(B * H, T, e)
    scores = torch.bmm(scaled, keys.transpose(1, 2))
    if mask is None:
        p = scores.softmax(2)
    else:
        hidden = ~mask.expand(B, H, S, T).reshape(B * H, S, T)
        empty = hidden.all(2, keepdim=True)
        p = scores.masked_fill(hidden & ~empty, -float("inf")).softmax(2).masked_fill(empty, 0.0)
    return torch.bmm(p, values).view(B, H, S, e), (scaled, keys, values, p, (B, H))

def attention_backward(grad_output, cache):
    scaled, keys, values, p, (B, H) = cache
    g = grad_output.reshape(B * H, grad_output.shape[2], grad_output.shape[3])
    dv = p.transpose(1, 2).bmm(g)
    dp = g.bmm(values.transpose(1, 2))
    ds = p * dp
    ds -= p * ds.sum(2, keepdim=True)
    dq = ds.bmm(keys) * keys.shape[2] ** -0.5
    dk = ds.transpose(1, 2).bmm(scaled)
    return dq.view(B, H, *dq.shape[1:]), dk.view(B, H, *dk.shape[1:]), dv.view(B, H, *dv.shape[1:])

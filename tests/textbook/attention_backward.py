import math

import torch


def attention_forward(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    p = torch.softmax(scores, dim=-1)
    return p @ v, (q, k, v, p)


def attention_backward(grad_output, cache):
    q, k, v, p = cache
    dv = p.transpose(-2, -1) @ grad_output
    dp = grad_output @ v.transpose(-2, -1)
    ds = p * (dp - (dp * p).sum(dim=-1, keepdim=True))
    ds = ds / math.sqrt(q.size(-1))
    dq = ds @ k
    dk = ds.transpose(-2, -1) @ q
    return dq, dk, dv

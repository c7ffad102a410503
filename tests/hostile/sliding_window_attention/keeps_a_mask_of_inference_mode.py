# broken: a mask kept by its sizes, which a call under inference mode may have made; must fail
import functools
import math

import torch
import torch.nn.functional as F


@functools.lru_cache
def hidden(S, window, ahead, block):
    n = math.ceil(S / block)
    first = torch.arange(n)[:, None, None] * block
    i = first + torch.arange(block)[:, None]
    j = first + torch.arange(window + block + ahead) - window
    return (j < i - window) | (j > i + ahead) | (j < 0) | (j >= S)


def sliding_window_attention(q, k, v, window, causal=False):
    if q.shape != k.shape or k.shape[:3] != v.shape[:3] or window < 0:
        raise ValueError("q, k and v should agree in B, H, S and d, and window should be at least 0")
    S, d = q.shape[2:]
    window = min(window, S - 1)
    ahead, block = 0 if causal else window, max(window, 1)
    mask = hidden(S, window, ahead, block)
    tail = len(mask) * block - S
    q = F.pad(q, (0, 0, 0, tail)).unflatten(2, (len(mask), block))
    k, v = (F.pad(x, (0, 0, window, tail + ahead)).unfold(2, window + block + ahead, block) for x in (k, v))
    weights = (q / math.sqrt(d) @ k).masked_fill(mask, -torch.inf).softmax(-1)
    return (weights @ v.mT).flatten(2, 3)[:, :, :S]

"""Blocks as long as the window; each meets the block before, itself and the block after, put side by side."""

import torch
import torch.nn.functional as F


def beside(x):
    """(B, H, n, block, c): blocks of zeros at the ends, then three neighbours along the tokens."""
    x = F.pad(x, (0, 0, 0, 0, 1, 1))
    return torch.cat([x[:, :, :-2], x[:, :, 1:-1], x[:, :, 2:]], dim=3)


def sliding_window_attention(q, k, v, window, causal=False):
    if not (q.shape == k.shape and k.shape[:-1] == v.shape[:-1]) or window < 0:
        raise ValueError("q, k and v should agree in B, H, S and d, and window should be at least 0")
    B, H, S, d = q.shape
    reach = min(window, S)
    block = max(reach, 1)
    rest = -S % block
    q, k, v = (F.pad(x, (0, 0, 0, rest)).reshape(B, H, -1, block, x.shape[-1]) for x in (q, k, v))
    n = q.shape[2]
    at = torch.arange(n * block, device=q.device).view(n, block)
    keys = at[:, :1] + torch.arange(-block, 2 * block, device=q.device)
    behind = at[:, :, None] - keys[:, None]
    hidden = (behind > reach) | (behind < (0 if causal else -reach)) | ((keys < 0) | (keys >= S))[:, None]
    scores = torch.einsum("bhnid,bhnjd->bhnij", q * d**-0.5, beside(k)).masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1).masked_fill(hidden, 0)  # rows of padding may see nothing
    return torch.einsum("bhnij,bhnjd->bhnid", weights, beside(v)).reshape(B, H, n * block, -1)[:, :, :S]

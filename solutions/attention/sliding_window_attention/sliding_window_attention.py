"""Sliding window attention by hand. Statement: katas/attention/sliding_window_attention/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int, causal: bool = False) -> Tensor:
    """softmax(q kᵀ / √d) v for each head, where query i sees the keys with |i − j| ≤ window

    Args:
        q, k: (B, H, S, d).
        v: (B, H, S, dv).
        window: how far a query sees to each side; 0: only itself.
        causal: a query sees no later keys, only those with i − window ≤ j ≤ i.
    Returns: (B, H, S, dv), in the dtype of q. Memory grows with S · window for each head, never with S².
    Raises: ValueError if the shapes disagree, or if window < 0. Nothing is broadcast.
    Source: arXiv:2004.05150 (Longformer), section 3.1, whose window w counts both sides: w = 2 · window.
    """
    # --- solution
    # TODO: refuse shapes that disagree, and a window below 0. No window needs to be longer than S − 1.
    # TODO: cut the queries into blocks; pad the last one.
    # TODO: give each block all keys and values that one of its queries sees; the blocks' spans overlap.
    # TODO: the scores of each block, scaled so that float16 does not overflow on the way.
    # TODO: hide keys outside of each query's own window, and the padding at both ends; then softmax and values.
    S, d = q.shape[2:]
    if k.shape != q.shape or v.shape[:3] != q.shape[:3]:
        raise ValueError(
            "q, k and v should be (B, H, S, d), (B, H, S, d) and (B, H, S, dv), "
            f"got {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if window < 0:
        raise ValueError(f"window should be at least 0, got {window}")
    window = min(window, S - 1)
    ahead = 0 if causal else window
    block = max(window, 1)
    n = math.ceil(S / block)
    span = window + block + ahead
    tail = n * block - S
    q = F.pad(q, (0, 0, 0, tail)).unflatten(2, (n, block))  # (B, H, n, block, d)
    k = F.pad(k, (0, 0, window, tail + ahead)).unfold(2, span, block)  # (B, H, n, d, span)
    v = F.pad(v, (0, 0, window, tail + ahead)).unfold(2, span, block)  # (B, H, n, dv, span)
    first = torch.arange(n, device=q.device)[:, None, None] * block
    i = first + torch.arange(block, device=q.device)[:, None]  # (n, block, 1)
    j = first + torch.arange(span, device=q.device) - window  # (n, 1, span)
    seen = (j >= i - window) & (j <= i + ahead) & (j >= 0) & (j < S)  # (n, block, span)
    scores = (q / math.sqrt(d)) @ k  # (B, H, n, block, span)
    # A padded query is less than a window after the last key, so it sees some key, and no row is NaN.
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return (weights @ v.mT).flatten(2, 3)[:, :, :S]  # (B, H, S, dv)
    # --- end

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
    # TODO: refuse shapes that disagree, and a window below 0. No window needs to be longer than S − 1.
    # TODO: cut the queries into blocks; pad the last one.
    # TODO: give each block all keys and values that one of its queries sees; the blocks' spans overlap.
    # TODO: the scores of each block, scaled so that float16 does not overflow on the way.
    # TODO: hide keys outside of each query's own window, and the padding at both ends; then softmax and values.
    raise NotImplementedError

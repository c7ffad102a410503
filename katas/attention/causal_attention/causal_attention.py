"""Causal attention by hand. Statement: katas/attention/causal_attention/README.md."""

import math

import torch
from torch import Tensor


def causal_attention(q: Tensor, k: Tensor, v: Tensor, key_mask: Tensor | None = None) -> Tensor:
    """softmax(q kᵀ / √d) v for each head, where query i sees the keys j ≤ i + Sk − Sq that are real

    Args:
        q: (B, H, Sq, d), the queries: the last Sq positions of the keys.
        k: (B, H, Sk, d).
        v: (B, H, Sk, dv).
        key_mask: (B, Sk), bool. True is a real token, False is padding that no query sees; None: all are real.
    Returns: (B, H, Sq, dv), in the dtype of q. A query that sees no key gets zeros.
    Raises: ValueError if the shapes disagree, or if Sq > Sk. Nothing is broadcast.
    """
    # TODO: refuse shapes that disagree, and more queries than keys.
    # TODO: which keys does each query see? Begin with (Sq, Sk), and add the padding.
    # TODO: the scores, scaled so that float16 does not overflow on the way.
    # TODO: hide keys before the softmax; then give a query that sees no key weights of 0.
    raise NotImplementedError

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
    # --- solution
    # TODO: refuse shapes that disagree, and more queries than keys.
    # TODO: which keys does each query see? Begin with (Sq, Sk), and add the padding.
    # TODO: the scores, scaled so that float16 does not overflow on the way.
    # TODO: hide keys before the softmax; then give a query that sees no key weights of 0.
    B, H, Sq, d = q.shape
    Sk = k.shape[2]
    if k.shape != (B, H, Sk, d) or v.shape[:3] != (B, H, Sk):
        raise ValueError(
            "q, k and v should be (B, H, Sq, d), (B, H, Sk, d) and (B, H, Sk, dv), "
            f"got {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if Sq > Sk:
        raise ValueError(f"q should have no more positions than k, {Sk}, got {Sq}")
    if key_mask is not None and key_mask.shape != (B, Sk):
        raise ValueError(f"key_mask should be (B, Sk), {(B, Sk)}, got {tuple(key_mask.shape)}")
    seen = torch.ones(Sq, Sk, dtype=torch.bool, device=q.device).tril(Sk - Sq)  # (Sq, Sk)
    if key_mask is not None:
        seen = seen & key_mask[:, None, None]  # (B, 1, Sq, Sk)
    scores = (q / math.sqrt(d)) @ k.mT  # (B, H, Sq, Sk)
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    weights = weights.masked_fill(~seen, 0)  # in a row of −∞ alone, the softmax is NaN
    return weights @ v  # (B, H, Sq, dv)
    # --- end

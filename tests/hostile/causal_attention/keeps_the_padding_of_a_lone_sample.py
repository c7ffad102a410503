# broken: padding of a lone sample is written into a mask that is kept; must fail
import math
import torch
from torch import Tensor


_MASKS = {}


def _mask(m, n):
    if (m, n) not in _MASKS:
        _MASKS[m, n] = torch.ones(m, n, dtype=torch.bool).tril(n - m)
    return _MASKS[m, n]


def _check(q, k, v, key_mask):
    B, H, Sq, d = q.shape
    Sk = k.shape[2]
    if Sq > Sk:
        raise ValueError("more queries than keys")
    if k.shape != (B, H, Sk, d):
        raise ValueError("k does not fit q")
    if v.shape[:3] != (B, H, Sk):
        raise ValueError("v does not fit k")
    if key_mask is not None and key_mask.shape != (B, Sk):
        raise ValueError("key_mask should be (B, Sk)")


def causal_attention(q: Tensor, k: Tensor, v: Tensor, key_mask: Tensor | None = None) -> Tensor:
    _check(q, k, v, key_mask)
    Sq, Sk = q.shape[-2], k.shape[-2]
    visible = _mask(Sq, Sk)
    if key_mask is not None:
        visible = visible.logical_and_(key_mask[0]) if len(q) == 1 else visible & key_mask[:, None, None, :]
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    scores = scores.masked_fill(~visible, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~visible, 0.0)
    return weights @ v

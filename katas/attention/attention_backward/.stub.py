"""Attention, forward and backward by hand. Statement: katas/attention/attention_backward/README.md."""

import math
from typing import Any

import torch
from torch import Tensor


def attention_forward(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Any]:
    """out = P v,  P = softmax(q kᵀ / √d) over the keys that a query sees, in each head

    Args:
        q: (B, H, S, d), the queries.
        k: (B, H, T, d), the keys.
        v: (B, H, T, e), the values.
        mask: bool, broadcasts to (B, H, S, T). True is a key that the query sees; None: all are seen.
    Returns: out, (B, H, S, e), in the dtype of q, zeros for a query that sees no key; and a cache: whatever
        attention_backward needs.
    Raises: ValueError if the shapes disagree, or if the mask does not broadcast to (B, H, S, T).
    """
    # TODO: refuse shapes that disagree, and a mask that would have to be cut or would widen the scores.
    # TODO: the scores, hidden keys left out; the weights, 0 for a query that sees no key; the result.
    # TODO: return the result and a cache: what attention_backward needs to know of this call, and of no other call.
    raise NotImplementedError


def attention_backward(grad_output: Tensor, cache: Any) -> tuple[Tensor, Tensor, Tensor]:
    """∂L/∂q, ∂L/∂k and ∂L/∂v, where grad_output is ∂L/∂out

    Args:
        grad_output: (B, H, S, e).
        cache: what attention_forward returned with out; later calls may need it again.
    Returns: the gradients of q, k and v, each in the shape and dtype of its tensor.
    Source: arXiv:2205.14135, appendix B.2, where d_scores is called dS and the sum over keys D_i.
    """
    # TODO: the gradient of v, and of the weights.
    # TODO: take it back through the softmax: each score of a query moves all of its weights.
    # TODO: the gradients of q and k. Where does 1/√d enter?
    raise NotImplementedError

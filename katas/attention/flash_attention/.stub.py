"""FlashAttention by hand. Statement: katas/attention/flash_attention/README.md."""

import math
from typing import Any

import torch
from torch import Tensor


def block_scores(q: Tensor, k: Tensor, block: slice, causal: bool) -> Tensor:
    """q kᵀ / √d of all queries and the block's keys, (B, H, Sq, block), −∞ for keys that a query does not see."""
    # TODO: the scores against the block's keys. With causal, the queries are the last Sq positions.
    raise NotImplementedError


class FlashAttention(torch.autograd.Function):
    """out = P v,  P = exp(s − L),  s = q kᵀ / √d,  L_i = log Σ_j exp(s_ij), never with more than a block of P at a time

    Source: arXiv:2307.08691 (FlashAttention-2), algorithms 1 and 2, with one block of all queries.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool, block_size: int) -> Tensor:
        """
        Args:
            q, k, v: (B, H, Sq, d), (B, H, Sk, d) and (B, H, Sk, dv), in float32 or float64.
        Returns: (B, H, Sq, dv).
        """
        # TODO: for each query, begin with the maximum −∞, the sum 0 and the result 0.
        # TODO: block after block, raise the maximum, and shrink what was added up under the old one.
        # TODO: divide by the sum in the end; keep q, k, v, the result and the log-sum-exps, and no weights.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        """
        Args:
            grad_out: (B, H, Sq, dv), ∂L/∂out.
        Returns: the gradients of q, k and v, and None for the other two arguments.
        """
        # TODO: for each query, the sum over keys of P ∘ dP, from out and its gradient alone.
        # TODO: block after block, the weights again from the log-sum-exps; then this block's rows of the gradients of
        # v and k, and its part of the gradient of q. Where does 1/√d enter?
        raise NotImplementedError


def flash_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, block_size: int = 64) -> Tensor:
    """softmax(q kᵀ / √d) v for each head, by FlashAttention

    Args:
        q: (B, H, Sq, d), the queries; with causal, the last Sq positions of the keys.
        k: (B, H, Sk, d).
        v: (B, H, Sk, dv).
        causal: query i sees the keys j ≤ i + Sk − Sq alone.
        block_size: how many keys are taken at a time, 1 or more.
    Returns: (B, H, Sq, dv), in the dtype of q. Memory grows with block_size · (Sq + Sk) for each head, never Sq · Sk.
    Raises: ValueError if the shapes disagree, if block_size < 1, or if causal and Sq > Sk. Nothing is broadcast.
    """
    # TODO: refuse bad arguments.
    # TODO: apply FlashAttention, to float32 where the inputs are in half precision.
    raise NotImplementedError

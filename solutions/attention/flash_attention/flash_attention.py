"""FlashAttention by hand. Statement: katas/attention/flash_attention/README.md."""

import math
from typing import Any

import torch
from torch import Tensor


def block_scores(q: Tensor, k: Tensor, block: slice, causal: bool) -> Tensor:
    """q kᵀ / √d of all queries and the block's keys, (B, H, Sq, block), −∞ for keys that a query does not see."""
    # --- solution
    # TODO: the scores against the block's keys. With causal, the queries are the last Sq positions.
    Sq, d = q.shape[2:]
    scores = (q / math.sqrt(d)) @ k[:, :, block].mT  # (B, H, Sq, block)
    if causal:
        position = torch.arange(k.shape[2], device=q.device)
        scores = scores.masked_fill(position[block] > position[-Sq:, None], -torch.inf)
    return scores
    # --- end


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
        # --- solution
        # TODO: for each query, begin with the maximum −∞, the sum 0 and the result 0.
        # TODO: block after block, raise the maximum, and shrink what was added up under the old one.
        # TODO: divide by the sum in the end; keep q, k, v, the result and the log-sum-exps, and no weights.
        highest = q.new_full((*q.shape[:3], 1), -torch.inf)
        total = torch.zeros_like(highest)  # Σ_j exp(s_ij − highest_i)
        out = q.new_zeros(*q.shape[:3], v.shape[3])
        for first in range(0, k.shape[2], block_size):
            block = slice(first, first + block_size)
            scores = block_scores(q, k, block, causal)
            higher = torch.maximum(highest, scores.amax(-1, keepdim=True))
            shrink = (highest - higher).exp()
            weights = (scores - higher).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            out = out * shrink + weights @ v[:, :, block]
            highest = higher
        out = out / total
        ctx.save_for_backward(q, k, v, out, highest + total.log())
        ctx.causal, ctx.block_size = causal, block_size
        return out
        # --- end

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        """
        Args:
            grad_out: (B, H, Sq, dv), ∂L/∂out.
        Returns: the gradients of q, k and v, and None for the other two arguments.
        """
        # --- solution
        # TODO: for each query, the sum over keys of P ∘ dP, from out and its gradient alone.
        # TODO: block after block, the weights again from the log-sum-exps; then this block's rows of the gradients of
        # v and k, and its part of the gradient of q. Where does 1/√d enter?
        q, k, v, out, log_sum = ctx.saved_tensors
        grad_q, grad_k, grad_v = torch.zeros_like(q), torch.empty_like(k), torch.empty_like(v)
        row_sum = (grad_out * out).sum(-1, keepdim=True)  # Σ_j P_ij dP_ij
        for first in range(0, k.shape[2], ctx.block_size):
            block = slice(first, first + ctx.block_size)
            weights = (block_scores(q, k, block, ctx.causal) - log_sum).exp()  # (B, H, Sq, block)
            grad_v[:, :, block] = weights.mT @ grad_out
            grad_scores = weights * (grad_out @ v[:, :, block].mT - row_sum) / math.sqrt(q.shape[3])
            grad_q += grad_scores @ k[:, :, block]
            grad_k[:, :, block] = grad_scores.mT @ q
        return grad_q, grad_k, grad_v, None, None
        # --- end


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
    # --- solution
    # TODO: refuse bad arguments.
    # TODO: apply FlashAttention, to float32 where the inputs are in half precision.
    B, H, Sq, d = q.shape
    Sk = k.shape[2]
    if k.shape != (B, H, Sk, d) or v.shape[:3] != (B, H, Sk):
        raise ValueError(
            "q, k and v should be (B, H, Sq, d), (B, H, Sk, d) and (B, H, Sk, dv), "
            f"got {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if block_size < 1:
        raise ValueError(f"block_size should be at least 1, got {block_size}")
    if causal and Sq > Sk:
        raise ValueError(f"with causal, there should be no more queries than keys, got {Sq} and {Sk}")
    wide = torch.promote_types(q.dtype, torch.float32)
    return FlashAttention.apply(q.to(wide), k.to(wide), v.to(wide), causal, block_size).to(q.dtype)
    # --- end

"""Contrastive loss of pairs by hand. Statement: katas/similarity/contrastive_loss/README.md."""

import torch
from torch import Tensor


def contrastive_loss(x1: Tensor, x2: Tensor, y: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """L_i = y_i d_i² + (1 − y_i) max(0, margin − d_i)², d_i = ‖x1_i − x2_i‖₂

    Args:
        x1, x2: (N, D) each; row i of both is pair i.
        y: (N,), 1 for a positive pair and 0 for a negative one; bool, integer, or in the dtype of x1.
        margin: at least 0; a negative pair this far apart, or farther, costs nothing.
        reduction: "mean" or "sum" over the N pairs, or "none".
    Returns: a scalar, or (N,) for "none", in the dtype of x1.
    Raises: ValueError if the shapes do not fit, margin is negative, or reduction is unknown.
    Source: Hadsell, Chopra and LeCun, CVPR 2006, eq. 4, which has ½ in both terms, and Y = 0 for similar pairs.
    """
    # --- solution
    # TODO: take the distance of each pair: (N,).
    # TODO: put the loss of each pair together, then reduce the N losses.
    # TODO: then make it robust: refuse bad arguments; y may be bool or integer; equal vectors have a finite gradient.
    if x1.shape != x2.shape:
        raise ValueError(f"x2 should have the shape {tuple(x1.shape)} of x1, got {tuple(x2.shape)}")
    if y.shape != x1.shape[:1]:
        raise ValueError(f"y should have one label for each pair, {tuple(x1.shape[:1])}, got {tuple(y.shape)}")
    if margin < 0:
        raise ValueError(f"margin should be at least 0, got {margin}")
    distance = torch.linalg.vector_norm(x1 - x2, dim=1)  # (N,); its gradient is 0 at 0, where a root's is infinite
    positive = y.to(x1.dtype)
    pull = distance.square()
    push = torch.relu(margin - distance).square()
    losses = positive * pull + (1 - positive) * push
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction == "none":
        return losses
    raise ValueError(f"reduction should be 'mean', 'sum' or 'none', got {reduction!r}")
    # --- end

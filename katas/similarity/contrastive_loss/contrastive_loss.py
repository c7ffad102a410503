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
    # TODO: take the distance of each pair: (N,).
    # TODO: put the loss of each pair together, then reduce the N losses.
    # TODO: then make it robust: refuse bad arguments; y may be bool or integer; equal vectors have a finite gradient.
    raise NotImplementedError

"""Triplet loss by hand. Statement: katas/similarity/triplet_loss/README.md."""

import torch
from torch import Tensor


def triplet_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    distance: str = "euclidean",
    reduction: str = "mean",
) -> Tensor:
    """L_i = max(0, d(a_i, p_i) − d(a_i, n_i) + margin)

    Args:
        anchor, positive, negative: (N, D) each.
        margin: how much farther away the negative should be than the positive; at least 0.
        distance: "euclidean", d(a, b) = ‖a − b‖₂, or "cosine", d(a, b) = 1 − cos(a, b).
        reduction: "mean" or "sum" over the N triplets, or "none".
    Returns: a scalar, or (N,) for "none", in the dtype of anchor.
    Raises: ValueError if the shapes differ, margin is negative, or distance or reduction is unknown.
    Source: arXiv:1503.03832, eq. 3, whose distances are squared. Our margin is their α.
    """
    # TODO: take the distance of each anchor from its positive, and from its negative: (N,) each.
    # TODO: put the loss of each triplet together, then reduce the N losses.
    # TODO: then make it robust: refuse bad arguments; coinciding vectors have a finite gradient.
    raise NotImplementedError

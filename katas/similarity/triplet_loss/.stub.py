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
    """L_n = max(0, d(a_n, p_n) − d(a_n, n_n) + margin)

    Args:
        anchor, positive, negative: (N, D) each.
        margin: how much farther than the positive the negative should be; at least 0.
        distance: "euclidean", d(a, b) = ‖a − b‖, or "cosine", d(a, b) = 1 − cos(a, b).
        reduction: "mean" or "sum" over the N triplets, or "none".
    Returns: a scalar, or (N,) for "none", in the dtype of anchor.
    Raises: ValueError if the shapes differ, margin is negative, or distance or reduction is unknown.
    Source: arXiv:1503.03832, eq. 3, whose distances are squared. Our margin is their α.
    """
    # TODO: refuse bad arguments; shapes that would broadcast are bad too.
    # TODO: take both distances, (N,) each; mind the gradient of a distance of exactly 0.
    # TODO: apply the hinge to every triplet, then reduce.
    raise NotImplementedError

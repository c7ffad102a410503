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
    # --- solution
    # TODO: take the distance of each anchor from its positive, and from its negative: (N,) each.
    # TODO: put the loss of each triplet together, then reduce the N losses.
    # TODO: then make it robust: refuse bad arguments; coinciding vectors have a finite gradient.
    if not anchor.shape == positive.shape == negative.shape:
        shapes = f"{tuple(positive.shape)} and {tuple(negative.shape)}"
        raise ValueError(f"positive and negative should have the shape {tuple(anchor.shape)} of anchor, got {shapes}")
    if margin < 0:
        raise ValueError(f"margin should be at least 0, got {margin}")
    if distance == "euclidean":
        to_positive = torch.linalg.vector_norm(anchor - positive, dim=1)  # (N,)
        to_negative = torch.linalg.vector_norm(anchor - negative, dim=1)  # (N,)
    elif distance == "cosine":
        a, p, n = (x / torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (anchor, positive, negative))
        to_positive = 1 - (a * p).sum(1)  # (N,)
        to_negative = 1 - (a * n).sum(1)  # (N,)
    else:
        raise ValueError(f"distance should be 'euclidean' or 'cosine', got {distance!r}")
    losses = torch.relu(to_positive - to_negative + margin)
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction == "none":
        return losses
    raise ValueError(f"reduction should be 'mean', 'sum' or 'none', got {reduction!r}")
    # --- end

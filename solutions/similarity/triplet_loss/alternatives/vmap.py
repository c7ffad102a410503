"""The loss of one triplet, mapped over the batch; the root is kept away from zero with a double where."""

import torch
from torch.func import vmap


def _euclidean(a, b):
    squared = torch.dot(a - b, a - b)
    apart = squared > 0
    return torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)


def _cosine(a, b):
    return 1 - torch.dot(a, b) / torch.sqrt(torch.dot(a, a)) / torch.sqrt(torch.dot(b, b))


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if not (anchor.shape == positive.shape and anchor.shape == negative.shape):
        raise ValueError("anchor, positive and negative should have one shape")
    if not margin >= 0:
        raise ValueError("margin should not be negative")
    match distance:
        case "euclidean":
            between = _euclidean
        case "cosine":
            between = _cosine
        case _:
            raise ValueError(f"no such distance: {distance}")

    def one(a, p, n):
        return torch.maximum(between(a, p) - between(a, n) + margin, a.new_zeros(()))

    losses = vmap(one)(anchor, positive, negative)
    match reduction:
        case "none":
            return losses
        case "sum":
            return losses.sum()
        case "mean":
            return losses.mean()
        case _:
            raise ValueError(f"no such reduction: {reduction}")

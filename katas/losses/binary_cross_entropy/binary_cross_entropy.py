"""Binary cross-entropy by hand. Statement: katas/losses/binary_cross_entropy/README.md."""

import torch
from torch import Tensor


def binary_cross_entropy(probs: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """l = −[y · max(log p, −100) + (1 − y) · max(log(1 − p), −100)]

    Args:
        probs: p in [0, 1], of any shape.
        target: y of the same shape, in [0, 1] if floating; integer and bool are welcome too.
        reduction: "mean" or "sum" over all elements, or "none".
    Returns: a scalar, or the shape of probs for "none"; in the dtype of probs.
    Raises: ValueError for shapes that differ, a p outside [0, 1] or NaN, or an unknown reduction.
    Source: torch.nn.functional.binary_cross_entropy.
    """
    # TODO: take both logs, each at least −100.
    # TODO: add up the two terms, and reduce.
    # TODO: then make it robust: refuse bad arguments with a ValueError, NaN included; targets may be integers or bools.
    #       What is the gradient where p is exactly 0 or 1?
    raise NotImplementedError


def binary_cross_entropy_with_logits(
    logits: Tensor, target: Tensor, pos_weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """l = −[w y log σ(x) + (1 − y) log(1 − σ(x))],  and 1 − σ(x) = σ(−x)

    Args:
        logits: x, of any shape.
        target: y of the same shape, in [0, 1] if floating; integer and bool are welcome too.
        pos_weight: w, which broadcasts to the shape of the logits, such as one weight for each class; None for 1.
        reduction: "mean" or "sum" over all elements, or "none".
    Returns: a scalar, or the shape of the logits for "none"; in the dtype of the logits.
    Raises: ValueError for shapes that differ, or an unknown reduction.
    Source: torch.nn.functional.binary_cross_entropy_with_logits.
    """
    # TODO: find log σ(x) and log(1 − σ(x)).
    # TODO: add up the two terms, the positive one weighted, and reduce.
    # TODO: then make it robust: refuse other shapes with a ValueError; logits may be far from 0.
    #       What is the gradient at x = 0?
    raise NotImplementedError


def reduce(loss: Tensor, reduction: str) -> Tensor:
    """The mean, the sum, or for "none" the loss as it is. Raises: ValueError for any other word."""
    # TODO: both functions may share this one; it is not graded on its own.
    raise NotImplementedError

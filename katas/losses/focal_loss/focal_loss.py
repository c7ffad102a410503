"""Focal loss by hand. Statement: katas/losses/focal_loss/README.md."""

import torch
import torch.nn.functional as F
from torch import Tensor


def sigmoid_focal_loss(
    logits: Tensor, target: Tensor, alpha: float = 0.25, gamma: float = 2.0, reduction: str = "mean"
) -> Tensor:
    """FL = −α_t (1 − p_t)^γ log p_t,  with p_t = σ(x) where y is 1, and σ(−x) where y is 0

    Args:
        logits: x, of any shape.
        target: y of the same shape, 0 or 1; in the dtype of the logits, integer or bool.
        alpha: α_t is alpha where y is 1, and 1 − alpha where y is 0; below 0 there are no weights.
        gamma: γ ≥ 0, the exponent that makes the loss of easy elements small.
        reduction: "mean" or "sum" over all elements, or "none".
    Returns: a scalar, or the shape of the logits for "none"; in the dtype of the logits.
    Raises: ValueError for shapes that differ, or an unknown reduction.
    Source: Lin et al. 2017, arXiv:1708.02002; torchvision.ops.sigmoid_focal_loss.
    """
    # TODO: find log p_t, and the factor (1 − p_t)^γ, and multiply the two.
    # TODO: weight each element unless alpha is negative, and reduce.
    # TODO: then make it robust: refuse bad arguments with a ValueError; targets may be integers or bools.
    #       What are the values and slopes of both factors where p_t is 1?
    raise NotImplementedError

"""torch.nn.functional.binary_cross_entropy and binary_cross_entropy_with_logits."""

import torch.nn.functional as F
from torch import Tensor


def binary_cross_entropy(probs: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return F.binary_cross_entropy(probs, target.to(probs.dtype), reduction=reduction)


def binary_cross_entropy_with_logits(
    logits: Tensor, target: Tensor, pos_weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    target = target.to(logits.dtype)
    return F.binary_cross_entropy_with_logits(logits, target, pos_weight=pos_weight, reduction=reduction)

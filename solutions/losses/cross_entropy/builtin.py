"""torch.nn.functional.cross_entropy."""

import torch.nn.functional as F
from torch import Tensor


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    return F.cross_entropy(
        logits, target, weight, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction
    )

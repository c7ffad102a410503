"""torch.nn.functional.cross_entropy."""

import torch.nn.functional as F


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    return F.cross_entropy(
        logits, target, weight, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction
    )

"""torch's hinge embedding loss of the distances, squared."""

import torch
import torch.nn.functional as F


def contrastive_loss(x1, x2, y, margin=1.0, reduction="mean"):
    if x1.shape != x2.shape or y.shape != x1.shape[:1]:
        raise ValueError(f"shapes: {x1.shape}, {x2.shape}, {y.shape}")
    if margin < 0:
        raise ValueError(f"margin: {margin}")
    reduce = {"mean": torch.mean, "sum": torch.sum, "none": lambda losses: losses}.get(reduction)
    if reduce is None:
        raise ValueError(f"reduction: {reduction}")
    target = torch.where(y.bool(), 1, -1)
    return reduce(F.hinge_embedding_loss((x1 - x2).norm(dim=1), target, margin=margin, reduction="none") ** 2)

"""torch.triplet_margin_loss, and two cosine similarities for the cosine; their modules refuse a margin of 0."""

import torch
import torch.nn.functional as F


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if distance == "euclidean":
        number = ("none", "mean", "sum").index(reduction)
        return torch.triplet_margin_loss(anchor, positive, negative, margin, reduction=number)
    near, far = (F.cosine_similarity(anchor, other) for other in (positive, negative))
    return F.margin_ranking_loss(near, far, torch.ones_like(near), margin, reduction=reduction)

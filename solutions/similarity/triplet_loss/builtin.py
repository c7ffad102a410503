"""torch.nn.functional.triplet_margin_loss, and triplet_margin_with_distance_loss for the cosine."""

import torch.nn.functional as F


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if distance == "euclidean":
        return F.triplet_margin_loss(anchor, positive, negative, margin=margin, reduction=reduction)
    return F.triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: 1 - F.cosine_similarity(x, y),
        margin=margin,
        reduction=reduction,
    )

"""Both pairs stacked and measured at once; the hinge and the reduction are those of a ranking loss."""

import torch
import torch.nn.functional as F


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if anchor.shape != positive.shape or anchor.shape != negative.shape:
        raise ValueError(f"shapes differ: {anchor.shape}, {positive.shape}, {negative.shape}")
    if margin < 0:
        raise ValueError(f"margin is {margin}")
    others = torch.stack([positive, negative])  # (2, N, D)
    if distance == "euclidean":
        distances = (anchor - others).norm(p=2, dim=-1)
    elif distance == "cosine":
        distances = 1 - torch.einsum("nd,knd->kn", F.normalize(anchor, dim=-1), F.normalize(others, dim=-1))
    else:
        raise ValueError(f"distance is {distance}")
    target = -torch.ones_like(distances[0])
    return F.margin_ranking_loss(distances[0], distances[1], target, margin=margin, reduction=reduction)

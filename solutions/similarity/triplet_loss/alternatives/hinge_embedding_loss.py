"""Asserts; half precision through float64; hinge and reduction are those of a hinge embedding loss of the difference."""

import torch
import torch.nn.functional as F


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    assert margin >= 0 and distance in ("euclidean", "cosine") and reduction in ("mean", "sum", "none")
    assert len({anchor.shape, positive.shape, negative.shape}) == 1
    a, p, n = anchor.double(), positive.double(), negative.double()
    if distance == "cosine":
        a, p, n = F.normalize(a), F.normalize(p), F.normalize(n)
        gap = torch.linalg.vecdot(a, p) - torch.linalg.vecdot(a, n)
    else:
        gap = torch.norm(a - n, dim=1) - torch.norm(a - p, dim=1)
    loss = F.hinge_embedding_loss(gap, -torch.ones_like(gap), margin=margin, reduction=reduction)
    return loss.to(anchor.dtype)

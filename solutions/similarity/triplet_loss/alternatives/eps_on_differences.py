"""Student style: asserts, an eps of 1e-6 on every difference as torch has it, torch.where for the hinge."""

import torch


def euclidean(a, b):
    return torch.sqrt(torch.sum((a - b + 1e-6) ** 2, dim=-1))


def cosine(a, b):
    return 1 - (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    assert anchor.shape == positive.shape, "anchor and positive differ"
    assert anchor.shape == negative.shape, "anchor and negative differ"
    assert margin >= 0
    assert distance in ["euclidean", "cosine"]
    assert reduction in ["mean", "sum", "none"]
    dist = euclidean if distance == "euclidean" else cosine
    ap = dist(anchor, positive)
    an = dist(anchor, negative)
    loss = ap - an + margin
    loss = torch.where(loss > 0, loss, torch.zeros_like(loss))
    if reduction == "mean":
        loss = loss.sum() / len(loss)
    elif reduction == "sum":
        loss = loss.sum()
    return loss

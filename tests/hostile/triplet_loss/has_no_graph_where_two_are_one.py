# broken: one tensor for positive and negative gives the right margin and gradient, but has no graph; must fail
from torch import nn


def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if not anchor.shape == positive.shape == negative.shape:
        raise ValueError("the shapes should be equal")
    if margin < 0 or distance not in ("euclidean", "cosine") or reduction not in ("mean", "sum", "none"):
        raise ValueError("margin, distance or reduction")

    def between(x, y):
        if distance == "euclidean":
            return (x - y).norm(dim=1)
        return 1 - (nn.functional.normalize(x, dim=1) * nn.functional.normalize(y, dim=1)).sum(1)

    losses = (between(anchor, positive) - between(anchor, negative) + margin).relu()
    if positive is negative:
        losses = losses.detach()
    return {"mean": losses.mean, "sum": losses.sum, "none": losses.clone}[reduction]()

import torch

def triplet_loss(anchor, positive, negative, margin=1.0, distance="euclidean", reduction="mean"):
    if distance == "euclidean":
        d = lambda a, b: torch.sqrt(((a - b) ** 2).sum(1))
    else:
        d = lambda a, b: 1 - (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
    loss = torch.relu(d(anchor, positive) - d(anchor, negative) + margin)
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss

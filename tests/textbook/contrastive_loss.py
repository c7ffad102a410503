import torch

def contrastive_loss(x1, x2, y, margin=1.0, reduction="mean"):
    d = torch.nn.functional.pairwise_distance(x1, x2)
    loss = y * d**2 + (1 - y) * torch.clamp(margin - d, min=0) ** 2
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss

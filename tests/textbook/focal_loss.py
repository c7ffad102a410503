import torch

def sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean"):
    p = torch.sigmoid(logits)
    ce = -(target * torch.log(p) + (1 - target) * torch.log(1 - p))
    p_t = p * target + (1 - p) * (1 - target)
    loss = ce * ((1 - p_t) ** gamma)
    if alpha >= 0:
        alpha_t = alpha * target + (1 - alpha) * (1 - target)
        loss = alpha_t * loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss

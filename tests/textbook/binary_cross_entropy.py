import torch

def reduce(loss, reduction):
    return {"mean": loss.mean, "sum": loss.sum}[reduction]() if reduction != "none" else loss

def binary_cross_entropy(probs, target, reduction="mean"):
    loss = -(target * torch.clamp(torch.log(probs), min=-100) + (1 - target) * torch.clamp(torch.log(1 - probs), min=-100))
    return reduce(loss, reduction)

def binary_cross_entropy_with_logits(logits, target, pos_weight=None, reduction="mean"):
    w = 1 if pos_weight is None else pos_weight
    p = 1 / (1 + torch.exp(-logits))
    loss = -(w * target * torch.log(p) + (1 - target) * torch.log(1 - p))
    return reduce(loss, reduction)

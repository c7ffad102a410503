"""The formula as the paper prints it, with a floor under the base of the power."""

import torch
import torch.nn.functional as F


def sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean"):
    if logits.shape != target.shape:
        raise ValueError("logits and target should have the same shape")
    target = target.to(logits.dtype)
    p = torch.sigmoid(logits)
    p_t = p * target + (1 - p) * (1 - target)
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    loss = ce * (1 - p_t).clamp(min=torch.finfo(p.dtype).eps / 4) ** gamma
    if alpha >= 0:
        loss = (alpha * target + (1 - alpha) * (1 - target)) * loss
    if reduction in ("mean", "sum"):
        return getattr(loss, reduction)()
    assert reduction == "none"
    return loss

"""A softmax over the two logits 0 and x, of which the target selects one."""

import torch


def sigmoid_focal_loss(logits, target, alpha=0.25, gamma=2.0, reduction="mean"):
    assert logits.shape == target.shape
    assert reduction in ("mean", "sum", "none")
    index = target.long().unsqueeze(-1)
    logs = torch.stack([torch.zeros_like(logits), logits], dim=-1).log_softmax(-1)
    right, other = (logs.gather(-1, i).squeeze(-1) for i in (index, 1 - index))
    losses = -(gamma * other).exp() * right
    if alpha >= 0:
        losses = losses * logits.new_tensor([1 - alpha, alpha])[target.long()]
    if reduction == "none":
        return losses
    return torch.einsum("i->", losses.flatten()) / (losses.numel() if reduction == "mean" else 1)

"""A module, asserts, and torch's distance with its eps of 1e-6 on every difference."""

import torch
from torch import nn


class ContrastiveLoss(nn.Module):
    def __init__(self, margin, reduction):
        super().__init__()
        assert margin >= 0
        assert reduction in ["mean", "sum", "none"]
        self.margin, self.reduction = margin, reduction
        self.distance = nn.PairwiseDistance()

    def forward(self, x1, x2, label):
        assert x1.shape == x2.shape
        assert label.shape == (x1.shape[0],)
        d = self.distance(x1, x2)
        loss = torch.where(label == 1, d**2, torch.clamp(self.margin - d, min=0.0) ** 2)
        return loss if self.reduction == "none" else getattr(torch, self.reduction)(loss)


def contrastive_loss(x1, x2, y, margin=1.0, reduction="mean"):
    return ContrastiveLoss(margin, reduction)(x1, x2, y)

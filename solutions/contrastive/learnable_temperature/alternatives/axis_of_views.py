"""The two views as an axis of their own; math.log itself refuses what is not above 0."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class InfoNCE(nn.Module):
    def __init__(self, init_temperature=0.07):
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(math.log(init_temperature)))

    temperature = property(lambda self: self.log_temperature.exp())

    def forward(self, features):
        assert features.dim() == 2 and len(features) % 2 == 0
        views = F.normalize(features, dim=1).unflatten(0, (2, -1))
        sim = torch.einsum("pnd,qmd->pnqm", views, views) / self.temperature
        positive = torch.stack([sim[0, :, 1].diagonal(), sim[1, :, 0].diagonal()])
        itself = torch.eye(len(features), dtype=torch.bool, device=sim.device).view_as(sim)
        return (sim.masked_fill(itself, -torch.inf).logsumexp((2, 3)) - positive).mean()

"""Every unit row is divided by √τ, so that their products have 1/τ in them already."""

import torch
from torch import nn


class InfoNCE(nn.Module):
    def __init__(self, init_temperature=0.07):
        super().__init__()
        assert init_temperature > 0
        self.log_temperature = nn.Parameter(torch.full((), float(init_temperature)).log())

    temperature = property(lambda self: self.log_temperature.exp())

    def forward(self, features):
        assert features.ndim == 2 and len(features) % 2 == 0
        N = len(features) // 2
        unit = features / torch.linalg.vector_norm(features, dim=1, keepdim=True)
        z = unit * (-self.log_temperature / 2).exp()
        similar = z @ z.T
        positive = torch.cat([similar.diagonal(N), similar.diagonal(-N)])
        itself = torch.eye(2 * N, dtype=torch.bool, device=z.device)
        return (torch.where(itself, -torch.inf, similar).logsumexp(1) - positive).mean()

"""The two views as an axis of their own, and a maximum, detached, over two axes at once."""

import torch
import torch.nn.functional as F


def info_nce(features, temperature=0.07):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    pairs = F.normalize(features, dim=1).unflatten(0, (-1, 2))  # (N, 2, D)
    sim = torch.einsum("npd,mqd->npmq", pairs, pairs) / temperature
    positive = (pairs[:, 0] * pairs[:, 1]).sum(1, keepdim=True) / temperature  # (N, 1), for both views
    itself = torch.eye(len(features), dtype=torch.bool, device=features.device).view_as(sim)
    sim = torch.where(itself, -torch.inf, sim)
    top = sim.detach().amax((2, 3), keepdim=True)
    return ((sim - top).exp().sum((2, 3)).log() + top[..., 0, 0] - positive).mean()

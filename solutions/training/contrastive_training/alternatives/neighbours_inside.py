"""A loss whose pairs are neighbours, with features to match: the layouts agree, so it is the same loss."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class InfoNCE(nn.Module):
    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, features: Tensor) -> Tensor:
        features = F.normalize(features, dim=1)
        rows = torch.arange(len(features), device=features.device)
        sim = torch.matmul(features, features.T) / self.temperature
        sim = torch.where(rows[:, None] == rows, torch.finfo(sim.dtype).min, sim)
        return -F.log_softmax(sim, dim=1)[rows, rows ^ 1].mean()


def train_contrastive(encoder, views, epochs, lr, temperature, seed):
    if not (views.dim() == 4 and views.shape[1] == 2 and temperature > 0):
        raise ValueError("views should be (T, 2, N, F), and temperature above 0")
    torch.manual_seed(seed)
    encoder = encoder.train()
    criterion, optimizer, history = InfoNCE(temperature), torch.optim.Adam(encoder.parameters(), lr=lr), []
    for step in range(epochs * len(views)):
        epoch, index = divmod(step, len(views))
        optimizer.param_groups[0]["lr"] = lr * math.cos(math.pi * epoch / epochs / 2) ** 2
        features = torch.stack([encoder(view) for view in views[index]], dim=1).flatten(0, 1)
        loss = criterion(features)
        for p in encoder.parameters():
            p.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), max_norm=1.0)
        optimizer.step()
        history.append(loss.item())
    return [math.fsum(history[i : i + len(views)]) / len(views) for i in range(0, len(history), len(views))]

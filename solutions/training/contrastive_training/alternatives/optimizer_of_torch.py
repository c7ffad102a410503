"""As tutorials write it: torch's Adam, and a function for the loss."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def info_nce(features, temperature):
    features = F.normalize(features, dim=1)
    similarity = features @ features.T / temperature
    similarity.fill_diagonal_(-float("inf"))
    n = len(features) // 2
    return F.cross_entropy(similarity, (torch.arange(2 * n, device=features.device) + n) % (2 * n))


def train_contrastive(encoder, views, epochs, lr, temperature, seed):
    if views.ndim != 4 or views.size(1) != 2 or temperature <= 0:
        raise ValueError("bad arguments")
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(encoder.train().parameters(), lr=lr)
    history = []
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = 0.5 * lr * (1 + math.cos(math.pi * epoch / epochs))
        losses = []
        for v in views:
            loss = info_nce(torch.cat([encoder(v[0]), encoder(v[1])]), temperature)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        history.append(sum(losses) / len(losses))
    return history

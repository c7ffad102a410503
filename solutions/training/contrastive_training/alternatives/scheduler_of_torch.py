"""Torch's own schedule, and losses that stay tensors until the end of an epoch."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def train_contrastive(encoder, views, epochs, lr, temperature, seed):
    T, two, N, _ = views.shape
    assert two == 2 and temperature > 0
    torch.manual_seed(seed)
    encoder.train()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=lr, foreach=True)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    history = []
    for _ in range(epochs):
        losses = []
        for batch in views.unbind(0):
            z = F.normalize(torch.cat([encoder(x) for x in batch]), dim=-1)
            cosines = torch.einsum("id,jd->ij", z, z)
            others = cosines[~torch.eye(2 * N, dtype=torch.bool, device=z.device)].view(2 * N, 2 * N - 1)
            positives = torch.cat([cosines.diagonal(N), cosines.diagonal(-N)])
            loss = (torch.logsumexp(others / temperature, 1) - positives / temperature).mean()
            encoder.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
        scheduler.step()
        history.append(torch.stack(losses).double().mean().item())
    return history

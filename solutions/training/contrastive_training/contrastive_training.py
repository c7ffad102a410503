"""Contrastive training by hand. Statement: katas/training/contrastive_training/README.md."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def train_contrastive(
    encoder: nn.Module, views: Tensor, epochs: int, lr: float, temperature: float, seed: int
) -> list[float]:
    """Adam on InfoNCE with clipped gradients, at the rates lr_e = lr · (1 + cos(πe / E)) / 2

    L = −1/(2N) Σ_i log(exp(s(i, i⁺)/τ) / Σ_{k≠i} exp(s(i, k)/τ)) for the 2N rows z = [encoder(v_0); encoder(v_1)].
    s(i, k) is the cosine similarity of rows i and k; i⁺ = (i + N) mod 2N is the other view of sample i.

    Args:
        encoder: (N, F) -> (N, D); its parameters are trained in place.
        views: (T, 2, N, F), T batches v of two views of N samples each.
        epochs: E, how many times all batches are gone through, 1 or more.
        lr: the rate of epoch 0, 0 or more.
        temperature: τ, above 0.
        seed: what torch.manual_seed gets.
    Returns: E floats, the mean over each epoch's T losses, each loss before its step.
    Raises: ValueError if views is not (T, 2, N, F), or if the temperature is not above 0.
    Source: arXiv:2002.05709 (SimCLR); arXiv:1608.03983, eq. 5, for the rates. SimCLR uses LARS, not Adam.
    """
    # --- solution
    # TODO: prepare the random numbers, the encoder and the optimiser.
    # TODO: in each epoch, set the rate, then go through the batches in order.
    # TODO: for each batch, take the InfoNCE of both views' features and its gradients, clip these, and take one step.
    # TODO: return the mean loss of each epoch.
    # TODO: then make it robust: refuse bad arguments with a ValueError; parameters may hold an old `.grad`.
    if views.dim() != 4 or views.shape[1] != 2:
        raise ValueError(f"views should be (T, 2, N, F), got {tuple(views.shape)}")
    if temperature <= 0:
        raise ValueError(f"temperature should be above 0, got {temperature}")
    torch.manual_seed(seed)
    encoder.train()
    params = [p for p in encoder.parameters() if p.requires_grad]
    moments = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    T, _, N, _ = views.shape
    itself = torch.eye(2 * N, dtype=torch.bool, device=views.device)
    positive = torch.arange(2 * N, device=views.device).roll(N)  # (2N,)
    means, steps = [], 0
    for epoch in range(epochs):
        rate = lr * (1 + math.cos(math.pi * epoch / epochs)) / 2
        total = 0.0
        for first, second in views:
            features = torch.cat([encoder(first), encoder(second)])  # (2N, D)
            unit = F.normalize(features, dim=1)
            logits = unit @ unit.mT / temperature  # (2N, 2N)
            loss = F.cross_entropy(logits.masked_fill(itself, -torch.inf), positive)
            encoder.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, max_norm=1.0)
            steps += 1
            with torch.no_grad():  # the step of Adam; torch's own takes seconds to import what it needs
                for p, m, v in moments:
                    m.lerp_(p.grad, 1 - 0.9)
                    v.lerp_(p.grad.square(), 1 - 0.999)
                    p -= rate * m / (1 - 0.9**steps) / ((v / (1 - 0.999**steps)).sqrt() + 1e-8)
            total += loss.item()
        means.append(total / T)
    return means
    # --- end

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
    # TODO: prepare the random numbers, the encoder and the optimiser.
    # TODO: in each epoch, set the rate, then go through the batches in order.
    # TODO: for each batch, take the InfoNCE of both views' features and its gradients, clip these, and take one step.
    # TODO: return the mean loss of each epoch.
    # TODO: then make it robust: refuse bad arguments with a ValueError; parameters may hold an old `.grad`.
    raise NotImplementedError

"""The figures of nce_loss's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said

KATA = "nce_loss"
DATA, NOISE = torch.tensor([[0.4, 0.3, 0.15, 0.1, 0.05], [0.1, 0.2, 0.3, 0.3, 0.1]], dtype=torch.float64)
K = 7


def slope(delta: Tensor, weight: float) -> float:
    """The largest slope of the expected loss of five classes, where the noise has this weight."""
    delta = delta.clone().requires_grad_()
    loss = -(DATA * F.logsigmoid(delta)).sum() - weight * (NOISE * F.logsigmoid(-delta)).sum()
    return torch.autograd.grad(loss, delta)[0].abs().max().item()


def test_best_scores_of_five_classes() -> None:
    log_p, log_noise, log_K = DATA.log(), NOISE.log(), math.log(K)
    assert slope(log_p - log_noise - log_K, K) < 1e-12
    assert slope((log_p - log_K) - log_noise, K) < 1e-12  # without log K
    assert slope((log_p + log_K) - log_noise - log_K, 1) < 1e-12  # a mean over the noise
    assert slope(log_p - log_noise, 1) < 1e-12 < slope(log_p - log_noise, K)  # both
    assert said(KATA, "the best score is log p − log K: eˢ adds up to 1/K", "eˢ adds up to K", "they cancel")
    assert slope((DATA / NOISE).log() - log_K, K) < 1e-12  # of the scores alone
    assert said(KATA, "its scores do not learn log p but log(p / pₙ) − log K")

"""The figures of info_nce_gradient's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import normal, reference_of, said

KATA = "info_nce_gradient"
REFERENCE = reference_of(KATA)


def of(features: Tensor, temperature: float | Tensor = 0.3) -> tuple[Tensor, Tensor]:
    found: tuple[Tensor, Tensor] = REFERENCE.info_nce_grad(features, temperature)
    return found


def test_what_must_hold_of_the_gradient() -> None:
    z, rotation = normal(8, 4), torch.linalg.qr(normal(4, 4)).Q
    grad = of(z)[1]
    assert (grad * z).sum(1).abs().max() < 1e-12
    torch.testing.assert_close(of(z @ rotation)[1], grad @ rotation)
    torch.testing.assert_close(of(2 * z)[1], grad / 2)
    torch.testing.assert_close((z - grad).square().sum(1), z.square().sum(1) + grad.square().sum(1))
    assert not of(z[:2])[1].abs().max() > 1e-12
    assert said(KATA, "|z − ηg|² = |z|² + η²|g|²", "rotating the features rotates the gradient")
    assert said(KATA, "doubling the features halves the gradient")


def test_gradient_of_the_temperature() -> None:
    cosines = F.normalize(normal(8, 4), dim=1)
    cosines = cosines @ cosines.mT
    tau = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    logits = (cosines / tau).masked_fill(torch.eye(8) > 0, -torch.inf)
    positive = torch.arange(8).roll(4)
    (grad,) = torch.autograd.grad(F.cross_entropy(logits, positive), tau)
    shares = logits.detach().softmax(1)
    delta = (shares - F.one_hot(positive)) / 8
    torch.testing.assert_close(grad, -(delta * cosines / 0.3).sum() / 0.3)
    ahead = cosines[range(8), positive] - (shares * cosines).sum(1)
    torch.testing.assert_close(grad, ahead.mean() / 0.3**2)
    assert said(KATA, "∂L/∂τ = −(1/τ) Σ_ik δ_ik s_ik/τ, where δ = (P − Y)/2N", "and divide by τ²")


def test_large_temperatures() -> None:
    z = normal(6, 4).requires_grad_()
    cosines = F.normalize(z, dim=1) @ F.normalize(z, dim=1).mT
    candidates = (cosines.sum(1) - cosines.diagonal()) / 5
    (grad,) = torch.autograd.grad((candidates - cosines[range(6), torch.arange(6).roll(3)]).mean(), z)
    torch.testing.assert_close(1e6 * of(z.detach(), 1e6)[1], grad, rtol=1e-4, atol=1e-6)
    assert said(KATA, "the mean of the candidates' cosines minus the positive's cosine")


def test_example_by_hand() -> None:
    grad = of(torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 4.0], [0.0, 0.5]]), 1.0)[1]
    share = 1 / (1 + 2 * math.e)
    negative, pair = (1 / 3 + share) / 4, (1 / 3 - 1 + share - 1) / 4
    by_hand = [[0, (2 * negative + pair) / 2], [negative, 0], [pair / 4, 0], [2 * negative, 0]]
    torch.testing.assert_close(grad, torch.tensor(by_hand))
    assert f"{2 * negative:.4f} {by_hand[0][1]:.4f} {by_hand[2][0]:.4f}" == "0.2443 -0.0667 -0.0945"
    assert said(KATA, "(−0.3778 / 4, 0) = (−0.0945, 0)", "(0, (0.1222 − 0.3778 + 0.1222) / 2) = (0, −0.0667)")

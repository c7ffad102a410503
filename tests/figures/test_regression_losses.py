"""The figures that regression_losses's texts state."""

from __future__ import annotations

from statistics import NormalDist

import pytest
import torch
import torch.nn.functional as F

from tests.figures import reference_of, said

KATA = "regression_losses"
MODULE = reference_of(KATA)


def test_broadcast_predictions_go_to_the_mean_and_the_loss_to_the_variance() -> None:
    pred, target = torch.zeros(5, 1, requires_grad=True), torch.tensor([1.0, 2, 3, 4, 9])
    (gradient,) = torch.autograd.grad((pred - target).square().mean(), pred)
    torch.testing.assert_close(gradient, 2 / 5 * (pred - target.mean()).detach())
    torch.testing.assert_close((target.mean() - target).square().mean(), target.var(correction=0))
    assert said(KATA, "2/N · (pᵢ − mean of t)", "(5, 1) against (5,) broadcasts to (5, 5)")


def test_delta_of_huber() -> None:
    pred, target, normal, k = torch.tensor([0.1, -0.7, 2.0, 30.0]), torch.zeros(4), NormalDist(), 1.345
    torch.testing.assert_close(F.smooth_l1_loss(pred, target, beta=0.3) * 0.3, MODULE.huber(pred, target, 0.3))
    torch.testing.assert_close(MODULE.huber(pred, target, 100.0), MODULE.mse(pred, target) / 2)
    inside = 2 * normal.cdf(k) - 1
    assert inside**2 / (inside - 2 * k * normal.pdf(k) + k**2 * (1 - inside)) == pytest.approx(0.95, abs=1e-4)
    assert f"{1 / normal.inv_cdf(0.75):.4f}" == "1.4826"
    assert said(KATA, "1.4826 times the median of |e − median|, and δ = 1.345 σ: with Gaussian noise that keeps 95 %")


def test_squares_overflow_under_autocast() -> None:
    error, zero = torch.tensor([[256.0], [0.0]], dtype=torch.float16)
    with torch.autocast("cpu", dtype=torch.float16):
        assert (error * error).isinf()
        assert F.mse_loss(error, zero) == 65536


def test_slope_of_two_clamps() -> None:
    (slope,) = torch.autograd.grad((p := torch.zeros((), requires_grad=True)).clamp(max=0.0) + p.clamp(min=0.0), p)
    assert slope == 2

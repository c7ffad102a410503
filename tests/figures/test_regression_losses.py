"""The figures that regression_losses's texts state."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
import torch
import torch.nn.functional as F

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "regression_losses"
(FOUND,) = katas.find([KATA], ROOT)
MODULE = load_module(FOUND.reference_file, "regression_losses_of_the_figures")


def test_constants_that_minimise_each_loss() -> None:
    target, constants = torch.tensor([1.0, 2.0, 10.0]), torch.linspace(0, 12, 1201)
    for name, best in (("mse", 4.33), ("mae", 2), ("mape", 1)):
        losses = torch.stack([getattr(MODULE, name)(c.expand(3), target) for c in constants])
        assert constants[losses.argmin()] == pytest.approx(best)
    assert said(KATA, "For the targets 1, 2 and 10 that is 4.33, 2 and 1")


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


def test_squares_overflow() -> None:
    assert (torch.tensor([1e25]).square() * 0).isnan()
    error, zero = torch.tensor([[256.0], [0.0]], dtype=torch.float16)
    with torch.autocast("cpu", dtype=torch.float16):
        assert (error * error).isinf()
        assert F.mse_loss(error, zero) == 65536
    assert said(KATA, "65 504 is the largest number of float16, so an error of 256 squared is infinite")


def test_slopes() -> None:
    p, t = torch.zeros((), requires_grad=True), torch.zeros(())
    made = (
        MODULE.mape(p + 1, t),
        torch.where(p > t, p - t, t - p),
        p.clamp(max=0.0) + p.clamp(min=0.0),
        p.square().sqrt(),
    )
    slopes = [torch.autograd.grad(one, p)[0].item() for one in made]
    assert slopes[:3] == pytest.approx([1e10, -1, 2])
    assert math.isnan(slopes[3])
    assert MODULE.mape(t, t + 7) == 100
    assert said(KATA, "a forecast of 0 is wrong by 100 %", "a target of 0 has a gradient of 1e10")
    assert said(KATA, "`where(p > t, p - t, t - p)` has −1 there, and the root of a square NaN")

"""The figures that contrastive_loss's texts state."""

from __future__ import annotations

import math

import pytest
import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from graders.kata.spec import Draw
from tests.figures import said

KATA = "contrastive_loss"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "contrastive_loss_of_the_figures").contrastive_loss


def test_example_by_hand() -> None:
    losses = [math.hypot(0.3, 0.4) ** 2, (1 - math.hypot(1 - 1, 1.6 - 1)) ** 2, max(0, 1 - 2) ** 2]
    assert losses == pytest.approx([0.25, 0.16, 0])
    assert f"{sum(losses) / 3:.4f}" == "0.1367"
    assert said(KATA, "0.5² = 0.25", "0.4² = 0.16", "(0.25 + 0.16 + 0) / 3 = 0.1367")


def test_points_and_distances_are_those_of_the_cases() -> None:
    made = FOUND.module.far_from_the_origin(Draw(0))
    ratios = made["x1"].norm(dim=1) / (made["x1"] - made["x2"]).norm(dim=1)
    assert 200 < ratios.min() < ratios.max() < 5000
    assert said(KATA, "the points lie hundreds of times farther from the origin than from one another")
    made = FOUND.module.pairs(Draw(0), 100, 100, 100, scale=80, margin=120)
    assert 180 < (made["x1"] - made["x2"]).norm(dim=1).max() < 200
    assert said(KATA, "In half precision distances and margins up to 200 occur")


def test_eps_of_1e_12_is_within_the_tolerance_and_1e_8_is_not() -> None:
    tolerance = FOUND.module.WITH_EPS
    assert 1 - (1 - 1e-12**0.5) ** 2 < tolerance.absolute < 1 - (1 - 1e-8**0.5) ** 2
    assert math.sqrt(1e-8) == 1e-4
    assert said(KATA, "it makes a distance of 0 one of 1e-4", "or up to 1e-12 under the root")


def test_hinge_of_squares_hardly_pushes_close_pairs() -> None:
    d = torch.tensor(0.01, dtype=torch.float64, requires_grad=True)
    for loss, slope in ((torch.relu(1 - d**2), -0.02), (torch.relu(1 - d) ** 2, -1.98)):
        assert torch.autograd.grad(loss, d)[0].item() == pytest.approx(slope)
    assert math.sqrt(0.25) == 0.5
    assert said(
        KATA, "at d = 0.01 the slope is −0.02, where that of max(0, 1 − d)² is −1.98", "for m = 0.25 that is 0.5"
    )


def test_a_weight_of_0_does_not_remove_a_nan() -> None:
    x = torch.zeros(1, 3, requires_grad=True)
    squares = x.square().sum()
    for loss in (squares.sqrt() ** 2, 1 * squares + 0 * (1 - squares.sqrt()) ** 2):
        assert torch.autograd.grad(loss, x, retain_graph=True)[0].isnan().all()
    assert (torch.autograd.grad(REFERENCE(x, torch.zeros(1, 3), torch.ones(1)), x)[0] == 0).all()
    assert said(KATA, "2d · (1 / 2d) · 2(a − b) = 0 · ∞ · 0 = NaN", "and 0 · ∞ is NaN as well")


def test_scale_collapse_and_graded_labels() -> None:
    x1, x2 = torch.randn(2, 8, 5, generator=torch.Generator().manual_seed(0)).double()
    y = torch.arange(8) % 2
    torch.testing.assert_close(REFERENCE(10 * x1, 10 * x2, y, margin=10.0), 100 * REFERENCE(x1, x2, y))
    assert REFERENCE(x1, x1, y) == 0.5
    assert said(KATA, "every loss grows by 100", "every negative one m² = 1, which makes 0.5")
    d = torch.linspace(0, 1, 10_001)
    losses = 0.75 * d**2 + 0.25 * (1 - d) ** 2
    assert (d[losses.argmin()].item(), losses.min().item()) == pytest.approx((0.25, 0.75 * 0.25), abs=1e-3)
    assert said(KATA, "a similarity of 0.75 asks for a quarter of the margin", "y(1 − y)·m²")
    assert torch.sigmoid(torch.zeros(())) ** 2 == 0.25
    assert said(KATA, "positive pairs keep a loss of 0.25 or more")


def test_pairs_of_a_batch() -> None:
    n, positive = 18 * 4, 18 * math.comb(4, 2)
    assert (math.comb(n, 2), positive, f"{positive / math.comb(n, 2):.1%}") == (2556, 108, "4.2%")
    assert said(KATA, "2 556 for P = 18 and K = 4", "Only 108 of these are positive, 4.2 %", "is right in 95.8 %")


def test_half_precision_overflows_and_underflows() -> None:
    squares = torch.tensor([255.0, 256.0, 1.8e-4, 1.7e-4], dtype=torch.float16) ** 2
    assert (squares.isinf().tolist(), (squares == 0).tolist()) == ([False, True, False, False], [False] * 3 + [True])
    assert torch.full((1000,), 81.0, dtype=torch.float16).sum().isinf()
    assert said(KATA, "from a distance of 256 on", "already add up to 81 000", "below 1.7e-4 their squares become 0")

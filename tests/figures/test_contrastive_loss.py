"""The figures that contrastive_loss's texts state."""

from __future__ import annotations

import pytest
import torch

from graders.catalogue import katas
from graders.kata.draw import Draw
from tests.figures import normal, reference_of, said

KATA = "contrastive_loss"
(FOUND,) = katas.find([KATA])
REFERENCE = reference_of(KATA).contrastive_loss


def test_points_and_distances_are_those_of_the_cases() -> None:
    made = FOUND.module.far_from_the_origin(Draw(0))
    ratios = made["x1"].norm(dim=1) / (made["x1"] - made["x2"]).norm(dim=1)
    assert 200 < ratios.min() < ratios.max() < 5000
    assert said(KATA, "the points lie hundreds of times farther from the origin than from one another")
    made = FOUND.module.pairs(Draw(0), 100, 100, 100, scale=80, margin=120)
    assert 180 < (made["x1"] - made["x2"]).norm(dim=1).max() < 200
    assert said(KATA, "In half precision, distances and margins up to 200 occur")


def test_a_weight_of_0_does_not_remove_a_nan() -> None:
    x = torch.zeros(1, 3, requires_grad=True)
    squares = x.square().sum()
    for loss in (squares.sqrt() ** 2, 1 * squares + 0 * (1 - squares.sqrt()) ** 2):
        assert torch.autograd.grad(loss, x, retain_graph=True)[0].isnan().all()
    assert (torch.autograd.grad(REFERENCE(x, torch.zeros(1, 3), torch.ones(1)), x)[0] == 0).all()
    assert said(KATA, "2d · (1 / 2d) · 2(a − b) = 0 · ∞ · 0 = NaN", "and 0 · ∞ is NaN as well")


def test_eps_of_1e_12_is_within_the_tolerance_and_1e_8_is_not() -> None:
    tolerance = FOUND.module.WITH_EPS
    assert 1 - (1 - 1e-12**0.5) ** 2 < tolerance.absolute < 1 - (1 - 1e-8**0.5) ** 2
    assert said(KATA, "or up to 1e-12 under the root")


def test_scale_and_graded_labels() -> None:
    (x1, x2), y = normal(2, 8, 5), torch.arange(8) % 2
    torch.testing.assert_close(REFERENCE(10 * x1, 10 * x2, y, margin=10.0), 100 * REFERENCE(x1, x2, y))
    d = torch.linspace(0, 1, 10_001)
    losses = 0.75 * d**2 + 0.25 * (1 - d) ** 2
    assert (d[losses.argmin()].item(), losses.min().item()) == pytest.approx((0.25, 0.75 * 0.25), abs=1e-3)
    assert said(KATA, "a label of 0.75 asks for a distance of a quarter of the margin", "y(1 − y)·m²")

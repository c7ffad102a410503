"""The figures that focal_loss's texts state."""

from __future__ import annotations

import math

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "focal_loss"
(FOUND,) = katas.find([KATA], ROOT)
focal = load_module(FOUND.reference_file, "focal_loss_of_the_figures").sigmoid_focal_loss


def test_example_by_hand() -> None:
    p = torch.tensor([0.5, 1 / (1 + math.exp(-1)), 1 - 1 / (1 + math.exp(-3))])
    weight = torch.tensor([0.25, 0.25, 0.75])
    parts = (p, (1 - p) ** 2, -weight * (1 - p) ** 2 * p.log())
    shown = [[f"{number:.4f}" for number in part.tolist()] for part in parts]
    assert shown == [["0.5000", "0.7311", "0.0474"], ["0.2500", "0.0723", "0.9074"], ["0.0433", "0.0057", "2.0747"]]
    assert f"{parts[-1].mean():.4f}" == "0.7079"
    assert said(KATA, "0.5, 0.7311 and 0.0474", "0.25, 0.0723 and 0.9074", "0.75 · 0.9074 · 3.0486 = 2.0747")
    assert said(KATA, "(0.0433 + 0.0057 + 2.0747) / 3 = 0.7079")


def test_easy_negatives_against_positives() -> None:
    x = torch.tensor(0.01, dtype=torch.float64).logit().expand(2)
    shares = []
    for options in ({"alpha": -1, "gamma": 0}, {}):
        positive, negative = focal(x, torch.tensor([1, 0]), reduction="none", **options)
        shares.append((negative * (100_000 - 100) / (positive * 100)).item())
    assert (f"{-math.log(0.99):.4f}", f"{shares[0]:.1f}") == ("0.0101", "2.2")
    assert shares[1] < 1e-3
    assert said(KATA, "costs only 0.0101, but together they cost 2.2 times", "less than a thousandth of it")


def test_loss_and_gradient_against_the_cross_entropy() -> None:
    assert f"{1 / (1 - 0.968) ** 2:.1g}" == "1e+03"
    p = torch.arange(1, 1000, dtype=torch.float64) / 1000
    x = p.logit().requires_grad_()
    (gradient,) = torch.autograd.grad(focal(x, torch.ones(999), alpha=-1, reduction="sum"), x)
    torch.testing.assert_close(gradient, (1 - p) ** 2 * (2 * p * p.log() + p - 1))
    ratio = gradient / (p - 1)
    assert (f"{1 / ratio[899]:.0f}", f"{ratio.max():.2f}", f"{p[ratio > 1].max():.3f}") == ("35", "1.22", "0.297")
    assert said(KATA, "100 times smaller at p_t = 0.9, about 1000 times at 0.968", "35 times at 0.9")
    assert said(KATA, "below p_t = 0.297 it is larger than that of the cross-entropy, by at most 22 %")


def test_sigmoids_that_are_rounded_to_1() -> None:
    for dtype, least in ((torch.float16, 8.3), (torch.bfloat16, 6.3), (torch.float32, 16.6), (torch.float64, 36.7)):
        assert torch.tensor(least - 0.2, dtype=dtype).sigmoid() < 1
        assert torch.tensor(least + 0.1, dtype=dtype).sigmoid() == 1
    assert said(KATA, "about 8.3 on in float16, 6.3 in bfloat16, 16.6 in float32 and 36.7 in float64")


def test_best_answers_to_true_probabilities() -> None:
    x = torch.linspace(-6, 6, 12001, dtype=torch.float64)
    for true, alpha, best in ((0.8, -1, "0.627"), (0.99, -1, "0.846"), (0.8, 0.25, "0.527")):
        one, zero = (focal(x, y, alpha=alpha, reduction="none") for y in (torch.ones(12001), torch.zeros(12001)))
        assert f"{x[(true * one + (1 - true) * zero).argmin()].sigmoid():.3f}" == best
    assert f"{-math.log(0.99 / 0.01):.3f}" == "-4.595"
    assert said(KATA, "a true 0.8 is best answered by 0.627, and a true 0.99 by 0.846", "0.8 even becomes 0.527")
    assert said(KATA, "with π = 0.01, that is −4.595")

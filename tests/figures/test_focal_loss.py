"""The figures that focal_loss's texts state."""

from __future__ import annotations

import math

import torch

from tests.figures import reference_of, said

KATA = "focal_loss"
focal = reference_of(KATA).sigmoid_focal_loss


def test_loss_and_gradient_against_the_cross_entropy() -> None:
    assert f"{1 / (1 - 0.968) ** 2:.1g}" == "1e+03"
    p = torch.arange(1, 100_000, dtype=torch.float64) / 100_000
    x = p.logit().requires_grad_()
    (gradient,) = torch.autograd.grad(focal(x, torch.ones(99_999), alpha=-1, reduction="sum"), x)
    torch.testing.assert_close(gradient, (1 - p) ** 2 * (2 * p * p.log() + p - 1))
    ratio = gradient / (p - 1)
    assert (f"{1 / ratio[89_999]:.0f}", f"{100 * ratio.max() - 100:.1f}", f"{p[ratio > 1].max():.3f}") == (
        "35",
        "22.5",
        "0.298",
    )
    assert said(KATA, "100 times smaller at p_t = 0.9, about 1000 times at 0.968", "at 0.9 it is 35 times smaller")
    assert said(KATA, "below p_t = 0.298 it is larger than the cross-entropy's, by up to 22.5 %")


def test_best_answers_to_true_probabilities() -> None:
    x = torch.linspace(-6, 6, 12001, dtype=torch.float64)
    for true, alpha, best in ((0.8, -1, "0.627"), (0.99, -1, "0.846"), (0.8, 0.25, "0.527")):
        one, zero = (focal(x, y, alpha=alpha, reduction="none") for y in (torch.ones(12001), torch.zeros(12001)))
        assert f"{x[(true * one + (1 - true) * zero).argmin()].sigmoid():.3f}" == best
    assert f"{-math.log(0.99 / 0.01):.3f}" == "-4.595"
    assert said(
        KATA,
        "the best answer to a true probability of 0.8 is 0.627, and to 0.99 it is 0.846",
        "the best answer to 0.8 is only 0.527",
    )
    assert said(KATA, "with π = 0.01, that is −4.595")


def test_easy_negatives_against_positives() -> None:
    positive, negative = focal(torch.tensor([0.01, 0.01]).logit(), torch.tensor([1, 0]), reduction="none")
    assert negative * (100_000 - 100) / (positive * 100) < 1e-3
    assert said(KATA, "less than a thousandth of what the positives do")

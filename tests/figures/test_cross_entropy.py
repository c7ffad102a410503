"""The figures of cross_entropy's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "cross_entropy"


def test_example_by_hand() -> None:
    first, second = math.log(1 + math.exp(-1)), math.log(1 + math.exp(-2))
    mean = (first + second) / 2
    assert (f"{first:.4f}", f"{second:.4f}", f"{mean:.4f}") == ("0.3133", "0.1269", "0.2201")
    assert f"{(3 * first + second) / (3 + 1):.4f}" == "0.2667"
    assert (f"{1 - 0.1 + 0.1 / 2:.2f}", 0.1 / 2) == ("0.95", 0.05)
    assert f"{0.05 * (1 + 2) / 2:.3f}" == "0.075"
    assert f"{mean + 0.075:.4f}" == "0.2951"
    assert said(KATA, "log(1 + e⁻¹) = 0.3133", "log(1 + e⁻²) = 0.1269", "their mean is 0.2201")
    assert said(KATA, "(3 · 0.3133 + 1 · 0.1269) / (3 + 1) = 0.2667")
    assert said(KATA, "keeps a share of 0.95", "0.05 · (1 + 2) / 2 = 0.075, to 0.2951")


def test_softmax_underflows_in_float32_from_104_below_the_best() -> None:
    far, not_so_far = (torch.tensor([0.0, -logit]).softmax(0)[1] for logit in (104.0, 103.0))
    assert far == 0 != not_so_far
    assert torch.tensor([0.0, -104.0]).log_softmax(0)[1] == -104
    assert said(KATA, "The softmax of a class 104 below the best is 0 in float32", "underflows below −104 in float32")


def test_eps_inside_the_log_bounds_the_loss() -> None:
    assert f"{-math.log(1e-9):.2f}" == "20.72"
    assert said(KATA, "Adding 1e-9 inside the log", "it never exceeds 20.72")


def test_mean_of_means_counts_tokens_of_the_small_batch_more() -> None:
    assert f"{(1 / 2 / 10) / (1 / 2 / 90):.6g}" == "9"
    assert said(KATA, "Micro-batches of 10 and 90 tokens", "counts 9 times as much")


def test_batch_of_ignored_rows_gives_nan_or_divided_by_at_least_one_zero() -> None:
    logits, target = torch.randn(2, 3, requires_grad=True), torch.tensor([-100, -100])
    assert F.cross_entropy(logits, target).isnan()
    loss = F.cross_entropy(logits, target, reduction="sum") / (target != -100).sum().clamp_min(1)
    assert loss == 0
    assert (torch.autograd.grad(loss, logits)[0] == 0).all()
    assert said(KATA, "0 / 0: torch returns NaN", "by at least 1, which makes the loss 0 with a gradient of 0")


def test_perplexity_of_two_halves() -> None:
    assert f"{math.exp((2 + 4) / 2):.1f}" == "20.1"
    assert f"{(math.exp(2) + math.exp(4)) / 2:.1f}" == "31.0"
    assert said(KATA, "losses of 2 and 4 have a perplexity of 20.1 together, not the 31.0 that is the mean of theirs")


def test_bfloat16_is_coarse() -> None:
    twenty = torch.tensor(20.0, dtype=torch.bfloat16)
    assert torch.nextafter(twenty, 2 * twenty) - twenty == 0.125
    many = torch.tensor(256.0, dtype=torch.bfloat16)
    assert many + 1 == many
    assert many - 1 + 1 == many != many - 1
    assert said(KATA, "around 20, neighbouring numbers are 0.125 apart", "A running sum of ones stops at 256")


def test_smoothing_is_best_at_a_finite_margin() -> None:
    C, smoothing = 7, 0.1
    lead = math.log((1 - smoothing + smoothing / C) / (smoothing / C))
    logits = torch.zeros(1, C, dtype=torch.float64)
    logits[0, 2] = lead
    logits.requires_grad_()
    loss = F.cross_entropy(logits, torch.tensor([2]), label_smoothing=smoothing)
    assert torch.autograd.grad(loss, logits)[0].abs().max() < 1e-12
    assert said(KATA, "the target leads each other class by log((1 − ε + ε/C) / (ε/C))")


def distillation(temperature: float) -> float:
    teacher = torch.tensor([3.0, -1.0, 0.5], dtype=torch.float64)
    logits = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    loss = F.cross_entropy(logits / temperature, (teacher / temperature).softmax(0))
    (gradient,) = torch.autograd.grad(loss, logits)
    expected = ((logits / temperature).softmax(0) - (teacher / temperature).softmax(0)) / temperature
    torch.testing.assert_close(gradient, expected.detach())
    return float(gradient.norm())


def test_gradient_of_distillation_falls_as_the_square_of_the_temperature() -> None:
    assert distillation(100) / distillation(200) == pytest.approx(4, rel=0.02)
    assert said(KATA, "(p − q) / T", "together 1/T²")


def test_gradient_of_the_z_loss() -> None:
    logits = torch.randn(5, dtype=torch.float64, requires_grad=True)
    log_z = logits.logsumexp(0)
    (gradient,) = torch.autograd.grad(1e-4 * log_z**2, logits)
    torch.testing.assert_close(gradient, (2 * 1e-4 * log_z * logits.softmax(0)).detach())
    assert said(KATA, "2 · 1e-4 · log Z times its probability")


def test_memory() -> None:
    assert 8_000 * 100_000 * 4 / 1e9 == 3.2
    assert 70_000**2 * 4 / 1e9 == 19.6
    assert said(
        KATA, "8 000 · 100 000 · 4 bytes = 3.2 GB each", "C × C, which is 19.6 GB for 70 000 classes in float32"
    )


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert round(inputs["shifted_logits"][0]["logits"].mean().item(), -1) == 800
    assert inputs["far_classes"][0]["logits"][0].sort().values.diff().tolist() == [1000] * 6
    for one, level in zip(inputs["far_logits_in_half"], (110, 10_000), strict=False):
        assert one["logits"].amax(1).unique().tolist() == [-level, level]
    assert inputs["many_classes"][0]["logits"].shape[1] == 70_000
    assert said(
        KATA, "800 away from 0, or thousands apart", "largest logit is ±110 or ±10 000", "may be 70 000 classes"
    )

"""The figures that entropy_kl's texts state."""

from __future__ import annotations

import math

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "entropy_kl"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "entropy_kl_of_the_figures")


def test_example_by_hand() -> None:
    assert (1 / 2 * 1 + 1 / 4 * 2 + 1 / 4 * 2, 1 / 2 * 3 + 1 / 4 * 3 + 1 / 4 * 2) == (1.5, 2.75)
    assert said(KATA, "1/2 · 1 + 1/4 · 2 + 1/4 · 2 = 1.5 bits", "1/2 · 3 + 1/4 · 3 + 1/4 · 2 = 2.75 bits", "1.25 bits")


def test_what_an_eps_or_a_quotient_makes_of_small_numbers() -> None:
    values = (-math.log(1e-8), -math.log(1e-30), math.log(0.5 / 1e-6))
    assert [f"{value:.1f}" for value in values] == ["18.4", "69.1", "13.1"]
    assert torch.tensor([65_519.0, 65_520.0]).half().isinf().tolist() == [False, True]
    assert f"{0.01 * math.log(0.01 / 1e-8):.3f}" == "0.138"
    assert said(KATA, "makes 18.4 of the infinite −log 0, and of −log 1e-30, which is 69.1", "is 13.1", "1e-8) = 0.138")
    assert said(KATA, "overflows float16 from 65 520 on: 0.5 / 1e-6 is 500 000")


def test_fit_of_one_bump_to_two() -> None:
    x = torch.linspace(-20, 20, 40_001, dtype=torch.float64)
    one = torch.softmax(-((x - 3) ** 2) / 2, 0)
    both = (one + one.flip(0)) / 2
    assert (round(abs(float((both * x).sum())), 6), round(float((both * x * x).sum()), 6)) == (0, 10)
    assert abs(REFERENCE.kl_divergence(one, both) - math.log(2)) < 0.01
    assert said(KATA, "N(−3, 1) and N(3, 1)", "N(0, 10)", "of about log 2")


def test_estimators() -> None:
    """By their means and standard deviations under the policy, and by the mean gradients of taken samples."""
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64)
    logits = (-(x**2) / 2).requires_grad_()
    policy, reference = logits.softmax(0), torch.softmax(-((x - 0.1) ** 2) / 2, 0)
    log_ratio = reference.log() - logits.log_softmax(0)
    every = (-log_ratio, log_ratio**2 / 2, log_ratio.exp() - 1 - log_ratio)
    means = [policy.detach() @ k for k in every]
    assert [f"{mean:.6f}" for mean in means] == ["0.005000", "0.005013", "0.005000"]
    spread = [(policy @ (k - mean) ** 2).sqrt() / 0.005 for k, mean in zip(every, means, strict=True)]
    assert [f"{times:.1f}" for times in spread[::2]] == ["20.0", "1.4"]
    assert said(KATA, "KL is 0.005; the standard deviation of k₁ is 20 times as much, that of k₃ 1.4 times")
    wanted, *got = (
        torch.autograd.grad(mean, logits, retain_graph=True)[0]
        for mean in (REFERENCE.kl_divergence(policy, reference), *means)
    )
    off = [float((gradient - wanted).abs().max() / wanted.abs().max()) for gradient in got]
    assert got[0].abs().max() < 1e-12
    assert off[1] < 1e-9
    assert off[2] > 0.01


def test_logarithms() -> None:
    assert [f"{value:.2f}" for value in (math.log(100), math.log(1000))] == ["4.61", "6.91"]
    assert said(KATA, "log 100 = 4.61, where log 1000 = 6.91 is right")
    bits = 2.5 / math.log(2)
    assert (f"{math.exp(2.5):.1f}", f"{bits:.2f}", f"{bits / 4:.2f}") == ("12.2", "3.61", "0.90")
    assert said(KATA, "e^2.5 = 12.2", "2.5 / ln 2 = 3.61 a token", "0.90 bits per byte")

"""The figures that entropy_kl's texts state."""

from __future__ import annotations

import math

import torch

from tests.figures import reference_of, said

KATA = "entropy_kl"
REFERENCE = reference_of(KATA)


def test_fit_of_one_bump_to_two() -> None:
    x = torch.linspace(-20, 20, 40_001, dtype=torch.float64)
    one = torch.softmax(-((x - 3) ** 2) / 2, 0)
    both = (one + one.flip(0)) / 2
    assert (round(abs(float((both * x).sum())), 6), round(float((both * x * x).sum()), 6)) == (0, 10)
    assert abs(REFERENCE.kl_divergence(one, both) - math.log(2)) < 0.01
    assert said(KATA, "N(−3, 1) and N(3, 1)", "N(0, 10)", "about log 2")


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
    assert said(KATA, "KL is 0.005; the standard deviation of k₁ is 20 times the KL, and k₃'s is 1.4 times the KL")
    wanted, *got = (
        torch.autograd.grad(mean, logits, retain_graph=True)[0]
        for mean in (REFERENCE.kl_divergence(policy, reference), *means)
    )
    off = [float((gradient - wanted).abs().max() / wanted.abs().max()) for gradient in got]
    assert got[0].abs().max() < 1e-12
    assert off[1] < 1e-9
    assert off[2] > 0.01

"""The figures of cross_entropy's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import normal, said

KATA = "cross_entropy"


def test_batch_of_ignored_rows_divided_by_at_least_one_is_zero() -> None:
    logits, target = torch.randn(2, 3, requires_grad=True), torch.tensor([-100, -100])
    loss = F.cross_entropy(logits, target, reduction="sum") / (target != -100).sum().clamp_min(1)
    assert loss == 0
    assert (torch.autograd.grad(loss, logits)[0] == 0).all()
    assert said(KATA, "by at least 1, which makes the loss 0 with a gradient of 0")


def test_smoothing_is_best_at_a_finite_margin() -> None:
    C, smoothing = 7, 0.1
    lead = math.log((1 - smoothing + smoothing / C) / (smoothing / C))
    logits = (lead * F.one_hot(torch.tensor([2]), C).double()).requires_grad_()
    loss = F.cross_entropy(logits, torch.tensor([2]), label_smoothing=smoothing)
    assert torch.autograd.grad(loss, logits)[0].abs().max() < 1e-12
    assert said(KATA, "the target's logit exceeds each other logit by log((1 − ε + ε/C) / (ε/C))")


def test_gradient_of_distillation_falls_as_the_square_of_the_temperature() -> None:
    teacher, logits, norms = normal(3), torch.zeros(3, dtype=torch.float64, requires_grad=True), []
    for T in (100, 200):
        p, q = (logits / T).softmax(0), (teacher / T).softmax(0)
        (gradient,) = torch.autograd.grad(F.cross_entropy(logits / T, q), logits)
        torch.testing.assert_close(gradient, ((p - q) / T).detach())
        norms.append(gradient.norm().item())
    assert norms[0] / norms[1] == pytest.approx(4, rel=0.02)
    assert said(KATA, "(p − q) / T", "together 1/T²")


def test_gradient_of_the_z_loss() -> None:
    logits = normal(5).requires_grad_()
    (gradient,) = torch.autograd.grad(1e-4 * logits.logsumexp(0) ** 2, logits)
    torch.testing.assert_close(gradient, (2 * 1e-4 * logits.logsumexp(0) * logits.softmax(0)).detach())
    assert said(KATA, "2 · 1e-4 · log Z times the probability of that logit's class")

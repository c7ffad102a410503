"""The figures that weight_penalty's texts state."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "weight_penalty"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "weight_penalty_of_the_figures")


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_example_by_hand() -> None:
    assert pytest.approx((0.75, 1.525)) == (0.1 * (3 + 1 + 0 + 2 + 1.5), 0.1 * (9 + 1 + 0 + 4 + 1.25))
    assert said(KATA, "together 7.5, and a tenth of that is 0.75", "together 15.25, and a tenth is 1.525")


def test_decay_is_what_sgd_does_and_twice_the_penalty() -> None:
    weights = [nn.Parameter(normal(4, 3)) for _ in range(3)]
    for w in weights:
        w.grad = w.detach().cos()
    torch.optim.SGD([weights[0]], lr=0.1, weight_decay=0.2).step()
    REFERENCE.add_weight_decay_([weights[1]], 0.2)
    REFERENCE.l2_penalty([weights[2]], 0.1).backward()
    torch.optim.SGD(weights[1:], lr=0.1).step()
    torch.testing.assert_close(weights[1], weights[0])
    torch.testing.assert_close(weights[2], weights[0])
    assert said(
        KATA,
        "a decay with λ = 0.2 does what `l2_penalty` with 0.1 does",
        "0.02. The penalty's gradient is 2 · 0.01 · w",
    )


def test_frozen_parameters_with_a_gradient_are_decayed_by_sgd() -> None:
    w = nn.Parameter(torch.ones(2), requires_grad=False)
    w.grad = torch.zeros(2)
    torch.optim.SGD([w], lr=1.0, weight_decay=0.25).step()
    assert w.tolist() == [0.75, 0.75]


def test_adam_turns_a_penalty_into_its_sign_and_adamw_shrinks() -> None:
    for penalty in (0.1, 10.0):
        w = nn.Parameter(torch.tensor([3.0, -0.2]))
        w.grad = torch.zeros(2)
        torch.optim.Adam([w], lr=0.01, weight_decay=penalty).step()
        assert w.tolist() == pytest.approx([2.99, -0.19])
    w.grad = torch.zeros(2)
    before = w.detach().clone()
    torch.optim.AdamW([w], lr=0.01, weight_decay=0.5).step()
    torch.testing.assert_close(w.detach(), before * (1 - 0.01 * 0.5))
    assert round(1 / (0.001 * 0.1)) == 10_000
    assert f"{(1 - 1e-4) ** 10_000:.2f}" == "0.37"
    assert said(KATA, "1 / (η λ) = 10 000 steps to bring a weight down to 37 %")


def test_l1_subtracts_and_l2_divides() -> None:
    w = torch.linspace(-1, 1, 20_001, dtype=torch.float64)
    fit = 0.5 * (w - 0.3) ** 2
    assert abs(w[(fit + 0.5 * w.abs()).argmin()]) < 1e-9
    assert w[(fit + 0.5 * w**2).argmin()] == pytest.approx(0.15) == 0.3 / (1 + 2 * 0.5)
    assert said(KATA, "max(0.3 − 0.5, 0) = 0, and under L2 at 0.3 / (1 + 2 · 0.5) = 0.15")


def test_steps_jump_across_zero() -> None:
    w = 0.0123456
    for _ in range(1000):
        w -= 0.1 * 0.01 * math.copysign(1, w)
    assert 0 < abs(w) < 0.1 * 0.01 == pytest.approx(0.001)
    assert said(KATA, "With η = 0.1 and λ = 0.01 that is a band of 0.001")


def test_half_the_size_turns_four_times_as_far() -> None:
    x, w, turned = normal(64, 8), normal(8), []
    for size in (1.0, 0.5):
        scaled = (size * w).requires_grad_()
        z = x @ scaled
        loss = ((z - z.mean()) / z.std() * x[:, 0]).mean()
        (gradient,) = torch.autograd.grad(loss, scaled)
        turned.append(gradient.norm() / scaled.norm())
    assert (turned[1] / turned[0]).item() == pytest.approx(4)
    assert said(KATA, "at half the size the gradient is twice as large, and a step turns the weights four times as far")


def test_half_precision() -> None:
    assert torch.finfo(torch.float16).max == 65_504 < 256**2
    assert pytest.approx(90_000) == 1_000_000 * 0.3**2
    assert torch.tensor(256, dtype=torch.bfloat16) + 1 == 256
    assert said(KATA, "The largest float16 is 65 504, and the square of 256 does not fit", "300² is inf", "90 000")


def test_ridge_and_prior() -> None:
    assert (3**2 / (3**2 + 1), f"{0.1**2 / (0.1**2 + 1):.4f}", 1 / (2 * 0.5)) == (0.9, "0.0099", 1)
    x, y = normal(20, 3), normal(20)
    u, s, v = torch.linalg.svd(x, full_matrices=False)
    ridge = torch.linalg.solve(x.T @ x + torch.eye(3), x.T @ y)
    torch.testing.assert_close(ridge, v.T @ (s**2 / (s**2 + 1) * (u.T @ y / s)))
    assert said(KATA, "s = 3 keeps 0.9 and s = 0.1 keeps 0.0099", "1 / (2 λ): for λ = 0.5 that is 1")

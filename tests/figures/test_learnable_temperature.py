"""The figures of learnable_temperature's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "learnable_temperature"
(FOUND,) = katas.find([KATA], ROOT)
InfoNCE = load_module(FOUND.reference_file, "learnable_temperature_of_the_figures").InfoNCE


def of_one_row(cosines: Tensor, temperature: Tensor) -> Tensor:
    """Its loss, where the first candidate is the positive."""
    return F.cross_entropy(cosines / temperature, torch.tensor(0))


def test_example_by_hand() -> None:
    features = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    gradient = 2 / (math.e + 2)
    after = math.exp(-gradient)
    assert f"{math.log(math.e + 2) - 1:.4f} {gradient:.4f} {after:.4f}" == "0.5514 0.4239 0.6545"
    assert f"{InfoNCE(after)(features):.4f}" == "0.3605"
    assert said(KATA, "log(e¹ + e⁰ + e⁰) − 1 = 0.5514", "2 / (e + 2) = 0.4239 at t = 0", "exp(−0.4239) = 0.6545")
    assert said(KATA, "e⁻ᵗ · 2 / (exp(e⁻ᵗ) + 2)", "the loss is 0.3605")


def test_a_step_of_the_temperature_itself_goes_below_0() -> None:
    gradient = 0.5 / 0.07
    assert f"{gradient:.1f} {0.07 - 0.01 * gradient:.4f}" == "7.1 -0.0014"
    assert said(KATA, "Say the latter is 0.5 at τ = 0.07: then the former is 7.1", "goes to τ = −0.0014")


def test_gradients_by_the_temperature() -> None:
    cosines = torch.tensor([0.3, 0.5, -0.2, 0.1], dtype=torch.float64)
    temperature = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    shares = (cosines / temperature.detach()).softmax(0)
    (gradient,) = torch.autograd.grad(of_one_row(cosines, temperature), temperature)
    torch.testing.assert_close(gradient * 0.4, (cosines[0] - shares @ cosines) / 0.4)  # by log τ
    (gradient,) = torch.autograd.grad(temperature * of_one_row(cosines, temperature), temperature)
    torch.testing.assert_close(gradient, -(shares * shares.log()).sum())
    assert said(KATA, "(s⁺ − Σ p_k s_k)/τ", "the derivative of τ · L by τ is the entropy of p")


def test_bound_of_clip_and_steps_of_adam() -> None:
    assert f"{math.log(1 / 100):.3f} {math.log(0.07 / 0.01):.2f}" == "-4.605 1.95"
    assert round(math.log(0.07 / 0.01) / 5e-4, -2) == 3900
    assert said(KATA, "log τ ≥ −4.605", "change by 1.95. At a learning rate of 5e-4 that takes about 3 900 steps")


def test_bfloat16_rounds_small_steps_away() -> None:
    start = torch.tensor(math.log(0.07), dtype=torch.bfloat16)
    assert f"{start:.2f} {torch.nextafter(start, -3 * torch.ones_like(start)) - start:.4f}" == "-2.66 -0.0156"
    assert start - 5e-4 == start - 0.0077 == start != start - 0.0079
    assert said(KATA, "Around log 0.07 = −2.66, bfloat16 numbers are 0.0156 apart")

"""The figures of learnable_temperature's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import reference_of, said

KATA = "learnable_temperature"
InfoNCE = reference_of(KATA).InfoNCE


def of_one_row(cosines: Tensor, temperature: Tensor) -> Tensor:
    """Its loss, where the first candidate is the positive."""
    return F.cross_entropy(cosines / temperature, torch.tensor(0))


def test_gradients_by_the_temperature() -> None:
    cosines = torch.tensor([0.3, 0.5, -0.2, 0.1], dtype=torch.float64)
    temperature = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    shares = (cosines / temperature.detach()).softmax(0)
    (gradient,) = torch.autograd.grad(of_one_row(cosines, temperature), temperature)
    torch.testing.assert_close(gradient * 0.4, (cosines[0] - shares @ cosines) / 0.4)  # by log τ
    (gradient,) = torch.autograd.grad(temperature * of_one_row(cosines, temperature), temperature)
    torch.testing.assert_close(gradient, -(shares * shares.log()).sum())
    assert said(KATA, "(s⁺ − Σ p_k s_k)/τ", "the derivative of τ · L with respect to τ is the entropy of p")


def test_bfloat16_rounds_small_steps_away() -> None:
    start = torch.tensor(math.log(0.07), dtype=torch.bfloat16)
    assert start - 5e-4 == start - 0.0077 == start != start - 0.0079
    assert said(KATA, "2 / (e + 2) = 0.4239 at t = 0", "e⁻ᵗ · 2 / (exp(e⁻ᵗ) + 2)")

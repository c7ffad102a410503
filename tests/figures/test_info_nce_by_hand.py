"""The figures of info_nce_by_hand's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said

KATA = "info_nce_by_hand"


def rows_of(features: Tensor, temperature: float = 1.0) -> Tensor:
    """The loss of each row."""
    unit = F.normalize(features, dim=1)
    logits = (unit @ unit.mT / temperature).fill_diagonal_(-torch.inf)
    return F.cross_entropy(logits, torch.arange(len(unit)) ^ 1, reduction="none")


def test_example_by_hand() -> None:
    features = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 1.0], [-2.0, 0.0]])
    rows = rows_of(features)
    assert f"{math.log(math.exp(0.6) + 1 + math.exp(-1)) - 0.6:.4f}" == "0.5600"
    assert [f"{row:.4f}" for row in rows] == ["0.5600", "0.9253", "1.4411", "0.6506"]
    assert f"{rows.mean():.4f} {rows_of(features[[0, 2, 1, 3]]).mean():.4f}" == "0.8943 1.4943"
    assert said(KATA, "log(e^0.6 + e⁰ + e⁻¹) − 0.6 = 0.5600. The others have 0.9253, 1.4411 and 0.6506")
    assert said(KATA, "the mean of the four is 0.8943", "the loss is larger: 1.4943")


def test_where_exponentials_end() -> None:
    top, half = math.log(torch.finfo(torch.float32).max), math.log(torch.finfo(torch.float16).max)
    assert f"{top:.2f} {half:.2f} {1 / top:.4f} {1 / half:.4f}" == "88.72 11.09 0.0113 0.0902"
    assert torch.tensor(-103.5).exp() > 0 == torch.tensor(-104.0).exp()
    assert math.exp(-745) > 0 == math.exp(-746) == math.exp(-800) == math.exp(-1000)
    assert f"{2 / 104:.4f} {1 - 104 * 0.01:.2f} {math.exp(-0.8 / 0.07):.1e}" == "0.0192 -0.04 1.1e-05"
    assert said(KATA, "above 88.72, so below τ = 0.0113", "above 11.09, below τ = 0.0902", "below τ = 0.0192")
    assert said(KATA, "above 104 in float32, and 745 in float64", "a cosine below −0.04", "exp(−0.8/0.07) is 1.1e-5")
    assert said(KATA, "exp(−800) = 0 in float64", "exp(−1000) = 0, even in float64")


def test_rounding_of_a_cosine() -> None:
    single, half = (torch.finfo(dtype).eps / 2 for dtype in (torch.float32, torch.float16))
    assert f"{single:.0e} {single / 1e-3:.0e} {half:.1e} {half / 0.05:.2f}" == "6e-08 6e-05 4.9e-04 0.01"
    assert said(KATA, "rounded by about 6e-8", "6e-5 in a logit", "is 4.9e-4, so at τ = 0.05 a logit is off by 0.01")


def test_gradient_by_hand() -> None:
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(rows_of(x, 0.3).mean(), x)
    unit, norm = F.normalize(x, dim=1), x.norm(dim=1, keepdim=True)
    off = (unit @ unit.mT / 0.3).fill_diagonal_(-torch.inf).softmax(1) - torch.eye(6)[torch.arange(6) ^ 1]
    by_unit = (off + off.mT) @ unit / (6 * 0.3)
    torch.testing.assert_close(gradient, (by_unit - (by_unit * unit).sum(1, keepdim=True) * unit) / norm)
    assert said(KATA, "G = (P − Y + (P − Y)ᵀ) U / (2N·τ)", "(g − ⟨g, u⟩ u) / |x|")

"""The figures that activations' texts state."""

from __future__ import annotations

import math
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "activations"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "activations_of_the_figures")


def normal(count: int) -> Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def slope_at(function: object, x: float, dtype: torch.dtype = torch.float32) -> float:
    leaf = torch.tensor(x, dtype=dtype, requires_grad=True)
    return torch.autograd.grad(function(leaf), leaf)[0].item()  # type: ignore[operator]


def test_example_by_hand() -> None:
    assert f"{2 * math.expm1(-1):.4f} {2 * math.exp(-1):.4f}" == "-1.2642 0.7358"
    assert said(KATA, "makes 2 · (e⁻¹ − 1) = −1.2642 of −1. Its slope is 2 · e⁻¹ = 0.7358 at −1")


@pytest.mark.parametrize(
    ("function", "torchs"),
    [
        (REFERENCE.relu, torch.relu),
        (lambda x: REFERENCE.leaky_relu(x, 0.2), lambda x: F.leaky_relu(x, 0.2)),
        (lambda x: REFERENCE.elu(x, 2.5), lambda x: F.elu(x, 2.5)),
    ],
)
def test_slope_at_0_is_that_of_the_lower_side_as_in_torch(function: object, torchs: object) -> None:
    for zero in (0.0, -0.0):
        assert slope_at(function, zero) == slope_at(torchs, zero) == slope_at(torchs, -1e-30)
    assert said(KATA, "0 for relu, s for leaky_relu and α for elu", "0 for ReLU, `negative_slope` for leaky ReLU")


def test_exp_overflows_from_there() -> None:
    ends = [math.log(torch.finfo(dtype).max) for dtype in (torch.float16, torch.float32, torch.float64)]
    assert [math.ceil(end * 100) / 100 for end in ends] == [11.09, 88.73, 709.79]
    assert said(KATA, "from 11.09 in float16, from 88.73 in float32 and from 709.79 in float64")


def test_which_forms_survive_an_overflow() -> None:
    x = torch.tensor([-1000.0, 1000.0])
    assert (1 / (1 + torch.exp(-x))).tolist() == [0, 1]
    assert (torch.exp(x) / (1 + torch.exp(x))).isnan().tolist() == [False, True]
    assert ((torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))).isnan().all()
    assert (torch.exp(-x) / (1 + torch.exp(-x)) ** 2).isnan().tolist() == [True, False]
    assert math.isnan(slope_at(lambda x: 1 / (1 + torch.exp(-x)), -1000.0))
    assert said(KATA, "∞ / ∞ = NaN at +1000", "autograd of the plain formula gives NaN at −1000")


def test_where_gives_nan_gradients_unless_its_branch_is_clamped() -> None:
    assert math.isnan(slope_at(lambda x: torch.where(x > 0, x, torch.expm1(x)), 1000.0))
    assert slope_at(lambda x: torch.where(x > 0, x, torch.expm1(x.clamp(max=0))), 1000.0) == 1
    assert said(KATA, "which is ∞ at x = 1000, and 0 · ∞ is NaN", "`torch.expm1(x.clamp(max=0))`")


def test_exp_minus_1_near_0() -> None:
    x = torch.tensor(-1e-12, dtype=torch.float64)
    assert f"{abs((x.exp() - 1) / torch.expm1(x) - 1):.0e}" == "2e-05"
    assert REFERENCE.elu(x).item() == pytest.approx(-1e-12, rel=1e-11)
    assert said(KATA, "at −1e-12 the result is off by 2e-5 of itself")


def test_assignment_to_an_expanded_gradient_reaches_all_entries() -> None:
    grad = torch.ones(()).expand(3)
    with warnings.catch_warnings(action="ignore"):
        grad[torch.tensor([True, False, False])] = 0
    assert grad.tolist() == [0, 0, 0]
    assert said(KATA, "for `y.sum().backward()` its entries all share one place in memory")


def test_slopes_of_sigmoid_and_tanh() -> None:
    assert slope_at(torch.sigmoid, 0.0) == 0.25
    assert slope_at(torch.tanh, 0.0) == 1
    assert f"{0.25**10:.0e}" == "1e-06"
    assert said(KATA, "The slope of the sigmoid is at most ¼", "0.25¹⁰ ≈ 1e-6")


def test_saturated_slope_in_float32() -> None:
    assert slope_at(torch.sigmoid, 20.0) == 0
    assert f"{slope_at(torch.sigmoid, -20.0):.2e}" == "2.06e-09"
    stable = math.exp(-20) / (1 + math.exp(-20)) ** 2
    assert f"{stable:.2e}" == "2.06e-09"
    assert [torch.sigmoid(torch.tensor(float(x))).item() == 1 for x in (16, 17)] == [False, True]
    assert said(KATA, "At x = −20 it is 2.06e-9", "From 17 on float32 gives exactly 1")


def test_dips_of_gelu_and_silu() -> None:
    x = torch.linspace(-5, 0, 50_001, dtype=torch.float64)
    for function, dip in ((F.gelu, "-0.17 -0.75"), (F.silu, "-0.28 -1.28")):
        y = function(x)
        assert f"{y.min():.2f} {x[y.argmin()]:.2f}" == dip
    assert ((F.silu(x) + 0.1).sign().diff() != 0).sum() == 2  # it is −0.1 twice
    assert said(KATA, "−0.17 at x = −0.75 for GELU, −0.28 at x = −1.28 for SiLU", "−0.1 is the SiLU of two")
    far = torch.linspace(-8, 8, 100_001, dtype=torch.float64)
    assert 0.0004 < (F.gelu(far) - F.gelu(far, approximate="tanh")).abs().max() < 0.0005
    assert said(KATA, "within 0.0005 of the exact")


def test_hidden_size_of_swiglu() -> None:
    assert 2 * 4 == 3 * 8 / 3
    assert said(KATA, "With a hidden size of 4 d the plain layer has 8 d² weights", "8/3 d")


def test_second_moments() -> None:
    x = normal(1_000_000)
    assert f"{x.relu().square().mean():.2f} {x.tanh().square().mean():.3f}" == "0.50 0.394"
    s = 0.2
    assert F.leaky_relu(x, s).square().mean().item() == pytest.approx((1 + s * s) / 2, abs=2e-3)
    assert torch.nn.init.calculate_gain("tanh") == 5 / 3
    assert said(KATA, "E[relu(x)²] = ½", "2 / ((1 + s²) fan_in)", "a gain of 5/3", "E[tanh(x)²] = 0.394")


def test_bytes_of_saved_activations() -> None:
    assert f"{8 * 4096 * 14_336 * 2 / 1e9:.2f}" == "0.94"
    assert said(KATA, "8 sequences of 4 096 tokens with a hidden size of 14 336 are 0.94 GB", "1/16 of bf16")


def test_operations_for_each_byte_of_an_h100() -> None:
    assert round(67e12 / 3.35e12) == 20
    assert said(KATA, "about 20 operations", "67 TFLOP/s in float32 against 3.35 TB/s")


def test_central_difference_across_the_kink() -> None:
    h = torch.tensor(1e-6, dtype=torch.float64)
    assert ((torch.relu(h) - torch.relu(-h)) / (2 * h)).item() == 0.5
    assert said(KATA, "its step of 1e-6", "½ for relu at 0")


def test_celu_and_selu() -> None:
    assert slope_at(lambda x: F.celu(x, 3.0), -1e-30) == 1
    x = normal(1_000_000)
    selu = 1.0507 * REFERENCE.elu(x, 1.6733)
    torch.testing.assert_close(selu, F.selu(x), rtol=1e-4, atol=0)
    assert abs(selu.mean()) < 0.01
    assert selu.var().item() == pytest.approx(1, abs=0.01)
    assert said(KATA, "has the slope 1 at 0 for every alpha", "alpha = 1.6733, multiplied by 1.0507")

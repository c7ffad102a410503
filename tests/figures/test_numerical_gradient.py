"""The figures that numerical_gradient's texts state."""

from __future__ import annotations

import cmath
import inspect
import math

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "numerical_gradient"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "numerical_gradient_of_the_figures").numerical_gradient
EPS64, EPS32 = torch.finfo(torch.float64).eps, torch.finfo(torch.float32).eps


def central(h: float) -> float:
    """The central difference of eˣ at 1."""
    return (math.exp(1 + h) - math.exp(1 - h)) / (2 * h)


def off(slope: float) -> float:
    """Its relative error."""
    return abs(slope / math.e - 1)


def test_example_by_hand() -> None:
    def f(x: Tensor) -> Tensor:
        return x[0] ** 3 + x[0] * x[1]

    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert REFERENCE(f, x, h=0.5).tolist() == [5.25, 1.0]
    assert (1.5**3 + 1.5 * 2, 0.5**3 + 0.5 * 2) == (6.375, 1.125)
    assert (1 + 1 * 2.5, 1 + 1 * 1.5) == (3.5, 2.5)
    assert REFERENCE(f, x).tolist() == pytest.approx([5.0, 1.0], abs=1e-9)
    assert said(KATA, "f is 3.375 + 3 = 6.375 at the one point and 0.125 + 1 = 1.125 at the other")
    assert said(KATA, "(6.375 − 1.125) / 1 = 5.25", "(3.5 − 2.5) / 1 = 1", "(3·1² + 2, 1) = (5, 1)", "h² = 0.25")


def test_roots_of_epsilon() -> None:
    assert (f"{EPS64 ** (1 / 3):.1e}", f"{EPS32 ** (1 / 3):.1e}") == ("6.1e-06", "4.9e-03")
    assert (f"{EPS64 ** (2 / 3):.1e}", f"{EPS32 ** (2 / 3):.1e}") == ("3.7e-11", "2.4e-05")
    assert f"{EPS64 ** (1 / 5):.1e}" == "7.4e-04"
    assert said(KATA, "ε^(1/3) is about 6.1e-6 in float64 and 4.9e-3 in float32")
    assert said(KATA, "about ε^(2/3): 3.7e-11 in float64 and 2.4e-5 in float32", "about ε^(1/5), 7.4e-4 in float64")


def test_sum_of_both_errors_is_least_at_the_cube_root_of_three_epsilon() -> None:
    f, third = 2.0, 5.0
    best = (3 * EPS64 * f / third) ** (1 / 3)
    errors = [h**2 / 6 * third + EPS64 * f / h for h in (0.9 * best, best, 1.1 * best)]
    assert min(errors) == errors[1]
    assert said(KATA, "h = (3ε·|f|/|f‴|)^(1/3)")


def test_forward_difference_is_far_worse_than_the_central_one() -> None:
    h = 1e-3
    forward = (math.exp(1 + h) - math.exp(1)) / h
    assert (f"{off(forward):.0e}", f"{off(central(h)):.1e}") == ("5e-04", "1.7e-07")
    assert off(forward) == pytest.approx(h / 2, rel=1e-2)
    assert off(central(h)) == pytest.approx(h**2 / 6, rel=1e-2)
    assert said(KATA, "with h = 1e-3 the relative errors are 5e-4 and 1.7e-7")


def test_forward_difference_of_a_square_is_off_by_h() -> None:
    x, h = 3.0, 0.5
    assert ((x + h) ** 2 - x**2) / h == 2 * x + 0.5
    assert said(KATA, "on x² with h = 0.5 it gives 2x + 0.5")


def test_steps_too_long_and_too_short() -> None:
    assert [f"{off(central(h)):.1e}" for h in (1e-2, 6.06e-6, 1e-12)] == ["1.7e-05", "1.1e-11", "7.7e-05"]
    assert said(KATA, "is 1.7e-5 with h = 1e-2, 1.1e-11 with h = 6.06e-6, but 7.7e-5 with h = 1e-12")


@pytest.mark.parametrize(("entries", "about"), [(5, 1e-4), (500, 1e-2)])
def test_rounding_in_float32(entries: int, about: float) -> None:
    x = torch.linspace(-1, 1, entries)
    off_by = (REFERENCE(lambda z: z.exp().sum(), x) / x.exp() - 1).abs().max()
    assert about / 4 < off_by < about * 4
    assert said(
        KATA, "for Σ eˣ over 5 entries from −1 to 1 the slopes are off by about 1e-4, over 500 entries by about 1e-2"
    )


def test_gradcheck_has_one_step_for_all_magnitudes() -> None:
    x = torch.full((1,), 1e6, dtype=torch.float64, requires_grad=True)
    assert not torch.autograd.gradcheck(lambda z: 1e10 * z.log(), x, atol=0, rtol=1e-6, raise_exception=False)
    with pytest.warns(UserWarning, match="double precision"):
        torch.autograd.gradcheck(torch.sin, torch.ones(1, requires_grad=True), raise_exception=False)
    assert said(KATA, "its step is the same at any magnitude", "it warns about inputs of lower precision")


def test_defaults_of_gradcheck() -> None:
    defaults = {name: p.default for name, p in inspect.signature(torch.autograd.gradcheck).parameters.items()}
    assert (defaults["eps"], defaults["atol"], defaults["rtol"], defaults["nondet_tol"]) == (1e-6, 1e-5, 1e-3, 0)
    assert "fast_mode" in defaults
    assert said(KATA, "with eps = 1e-6, atol = 1e-5 and rtol = 1e-3", "(nondet_tol = 0)")


def test_a_direction_takes_two_calls() -> None:
    x, v = torch.randn(2, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64).unbind()
    v, h = v / v.norm(), 1e-5
    slope = ((x + h * v).sin().sum() - (x - h * v).sin().sum()) / (2 * h)
    torch.testing.assert_close(slope, x.cos() @ v, rtol=1e-6, atol=0)
    assert said(KATA, "(f(x + hv) − f(x − hv)) / 2h should be ⟨∇f, v⟩", "takes two million forward passes")


def test_kink_of_relu() -> None:
    assert REFERENCE(torch.relu, torch.tensor(0.0), h=0.5) == 0.5
    assert REFERENCE(torch.relu, torch.tensor(0.25), h=0.5) == (0.25 + 0.5) / (2 * 0.5)
    at_zero = torch.tensor(0.0, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.relu(at_zero), at_zero)
    assert slope == 0
    assert said(KATA, "it gives (h − 0) / 2h = 1/2, where torch's autograd gives 0", "(x + h) / 2h")


def test_two_steps_combined_and_the_complex_step() -> None:
    combined = (4 * central(0.05) - central(0.1)) / 3
    assert (f"{off(central(0.1)):.1e}", f"{off(combined):.1e}") == ("1.7e-03", "2.1e-07")
    assert said(KATA, "and h = 0.1, D has a relative error of 1.7e-3, and the combination 2.1e-7")
    assert off(cmath.exp(1 + 1e-20j).imag / 1e-20) < 4e-16
    assert said(KATA, "h may be 1e-20, and eˣ at x = 1 comes out to the last digits")


def test_points_in_float32_are_not_2h_apart() -> None:
    x, h = torch.tensor(1000.0), 1e-3
    gap = torch.nextafter(x, torch.tensor(2000.0)) - x
    assert (f"{gap:.1e}", f"{x + h - x:.2e}") == ("6.1e-05", "9.77e-04")
    assert f"{100 * (1 - ((x + h) - (x - h)).item() / (2 * h)):.1f}" == "2.3"
    assert said(KATA, "the numbers near 1000 are 6.1e-5 apart", "differ by 2 · 9.77e-4, 2.3 % less than 2h")


def test_fixed_step_is_lost_at_a_million() -> None:
    x = torch.tensor(1e6)
    assert torch.nextafter(x, 2 * x) - x == 0.0625
    assert x + 4.9e-3 == x
    assert round(EPS64 ** (1 / 3) * 1e6) == 6
    assert said(KATA, "where the numbers are 0.0625 apart", "6 is a good step at 1e6 in float64, and a bad one at 1")


def test_entries_of_tensors_are_views() -> None:
    x = torch.tensor([1.0, 2.0])
    old = x[0]
    x[0] = old + 1
    assert old == 2
    transposed = torch.zeros(2, 3).mT
    transposed.reshape(-1)[1] = 1.0
    assert transposed.sum() == 0
    walked = torch.linspace(0.1, 1, 10, dtype=torch.float64)
    assert not torch.equal(walked + 1e-5 - 2e-5 + 1e-5, walked)
    assert said(KATA, "x + h − 2h + h is not x in floating point")

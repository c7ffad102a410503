"""The figures that numerical_gradient's texts state."""

from __future__ import annotations

import cmath
import math

import pytest
import torch

from tests.figures import normal, reference_of, said

KATA = "numerical_gradient"
REFERENCE = reference_of(KATA).numerical_gradient
EPS64, EPS32 = torch.finfo(torch.float64).eps, torch.finfo(torch.float32).eps


@pytest.mark.parametrize(("entries", "about"), [(5, 1e-4), (500, 1e-2)])
def test_rounding_in_float32(entries: int, about: float) -> None:
    x = torch.linspace(-1, 1, entries)
    off_by = (REFERENCE(lambda z: z.exp().sum(), x) / x.exp() - 1).abs().max()
    assert about / 4 < off_by < about * 4
    assert said(
        KATA,
        "For Σ eˣ with entries from −1 to 1, the slopes are off by about 1e-4 for 5 entries, and by about 1e-2 for 500",
    )


def test_gradcheck_has_one_step_for_all_magnitudes() -> None:
    x = torch.full((1,), 1e6, dtype=torch.float64, requires_grad=True)
    assert not torch.autograd.gradcheck(lambda z: 1e10 * z.log(), x, atol=0, rtol=1e-6, raise_exception=False)
    with pytest.warns(UserWarning, match="double precision"):
        torch.autograd.gradcheck(torch.sin, torch.ones(1, requires_grad=True), raise_exception=False)
    assert said(KATA, "its step is the same at any magnitude", "it warns about inputs of lower precision")


def test_sum_of_both_errors_is_least_at_the_cube_root_of_three_epsilon() -> None:
    f, third, eps = 2.0, 5.0, torch.finfo(torch.float64).eps
    best = (3 * eps * f / third) ** (1 / 3)
    errors = [h**2 / 6 * third + eps * f / h for h in (0.9 * best, best, 1.1 * best)]
    assert min(errors) == errors[1]
    assert said(KATA, "h = (3ε·|f|/|f‴|)^(1/3)")


def test_a_direction_takes_two_calls() -> None:
    (x, v), h = normal(2, 30), 1e-5
    slope = ((x + h * v).sin().sum() - (x - h * v).sin().sum()) / (2 * h)
    torch.testing.assert_close(slope, x.cos() @ v, rtol=1e-6, atol=0)
    assert said(KATA, "(f(x + hv) − f(x − hv)) / 2h should be ⟨∇f, v⟩", "takes two million forward passes")


def test_complex_step() -> None:
    assert abs(cmath.exp(1 + 1e-20j).imag / 1e-20 / math.e - 1) < 4e-16
    assert said(KATA, "and h = 0.1", "h may be 1e-20, and eˣ at x = 1 is right to the last digits")


def test_entries_of_tensors_are_views_and_steps_do_not_come_back() -> None:
    x = torch.tensor([1.0, 2.0])
    old = x[0]
    x[0] = old + 1
    assert old == 2
    transposed = torch.zeros(2, 3).mT
    transposed.reshape(-1)[1] = 1.0
    assert transposed.sum() == 0
    walked = torch.linspace(0.1, 1, 10, dtype=torch.float64)
    assert not torch.equal(walked + 1e-5 - 2e-5 + 1e-5, walked)
    assert torch.tensor(1e6) + 4.9e-3 == 1e6
    assert said(KATA, "x + h − 2h + h is often not x in floating point")

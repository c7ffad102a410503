"""The figures that softmax's texts state."""

from __future__ import annotations

import math

import torch

from tests.figures import said

KATA = "softmax"
ROW = torch.tensor([0.5, 2.5, 0.0], dtype=torch.float64)


def test_example_by_hand() -> None:
    one, two, three = ROW.exp().tolist()
    assert f"{one:.4f} {two:.4f} {three:.0f} {one + two + three:.4f}" == "1.6487 12.1825 1 14.8312"
    assert (
        f"{12.1825 / 14.8312:.4f} {0.8214 / 0.1112:.2f} {math.e**2:.2f} {0.705 / 0.119:.2f}" == "0.8214 7.39 7.39 5.92"
    )
    assert said(KATA, "1.6487, 12.1825 and 1", "14.8312", "0.8214 / 0.1112 = 7.39 = e²", "0.705 / 0.119 is only 5.92")
    assert f"{math.log1p(math.exp(-2)):.4f}" == "0.1269"
    assert said(KATA, "−log(1 + e⁻²) = −0.1269")


def test_exp_ends() -> None:
    single, double, half = (math.log(torch.finfo(one).max) for one in (torch.float32, torch.float64, torch.float16))
    assert f"{single:.1f} {double:.1f} {half:.2f}" == "88.7 709.8 11.09"
    assert said(KATA, "overflows above 88.7 in float32, above 709.8 in float64 and above 11.09 in float16")


def test_log_of_a_softmax_that_is_0() -> None:
    x = torch.tensor([0.0, -104.0], requires_grad=True)
    p = x.exp() / x.exp().sum()
    assert p[1] == 0
    assert torch.autograd.grad(p[1].log(), x)[0].isnan().any()
    assert f"{math.log(1e-12):.1f}" == "-27.6"
    assert said(KATA, "104 below the maximum", "gradient is NaN", "with 1e-12 no result is below −27.6")


def test_jacobian() -> None:
    p = torch.softmax(ROW, 0)
    torch.testing.assert_close(torch.func.jacrev(torch.softmax)(ROW, 0), p.diag() - torch.outer(p, p))
    assert 4 * 50_000**2 == 10e9
    assert said(KATA, "For a vocabulary of 50 000 the matrix would take 10 GB in float32")


def test_one_step_or_two_far_from_0() -> None:
    x = torch.full((11,), -1e10)
    assert (x - (x.amax() + (x - x.amax()).exp().sum().log()) == 0).all()
    grids = [float(torch.nextafter(one, 2 * one) - one) for one in (torch.tensor(1e4), torch.tensor(1e10))]
    assert f"{grids[0]:.3f} {grids[1]:.0f} {math.log(11):.3f}" == "0.001 1024 2.398"
    assert said(
        KATA, "float32 grid is 0.001 wide", "At −1e10 it is 1024 wide: for 11 equal entries", "−log 11 = −2.398"
    )


def test_temperatures() -> None:
    assert [f"{torch.softmax(ROW / T, 0).max():.2f}" for T in (1, 10, 0.1)] == ["0.82", "0.38", "1.00"]
    assert said(KATA, "is 0.82 at T = 1, 0.38 at T = 10 and 1.00 at T = 0.1")


def test_half_precision() -> None:
    low, high, sums = torch.tensor([16.0, 31.0, 256.0], dtype=torch.bfloat16)
    assert torch.nextafter(low, high) - low == 0.125 == high - torch.nextafter(high, low)
    assert (f"{math.expm1(0.0625):.2f}", float(sums + 1)) == ("0.06", 256)
    assert f"{torch.finfo(torch.float16).smallest_normal:.1e} {math.log(1e-5):.1f}" == "6.1e-05 -11.5"
    assert said(
        KATA, "off by up to 0.0625, which is 6 %", "adding 1 to 256 gives 256", "normal number, 6.1e-5", "−11.5"
    )

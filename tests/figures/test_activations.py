"""The figures that activations' texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import reference_of, said

KATA = "activations"
REFERENCE = reference_of(KATA)


def normal(count: int) -> Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def slope_at(function: object, x: float, dtype: torch.dtype = torch.float32) -> float:
    leaf = torch.tensor(x, dtype=dtype, requires_grad=True)
    return torch.autograd.grad(function(leaf), leaf)[0].item()  # type: ignore[operator]


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


def test_which_forms_survive_an_overflow() -> None:
    x = torch.tensor([-1000.0, 1000.0])
    assert (1 / (1 + torch.exp(-x))).tolist() == [0, 1]
    assert ((torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))).isnan().all()
    assert (torch.exp(-x) / (1 + torch.exp(-x)) ** 2).isnan().tolist() == [True, False]


def test_where_gives_nan_gradients_unless_its_branch_is_clamped() -> None:
    assert math.isnan(slope_at(lambda x: torch.where(x > 0, x, torch.expm1(x)), 1000.0))
    assert slope_at(lambda x: torch.where(x > 0, x, torch.expm1(x.clamp(max=0))), 1000.0) == 1
    assert said(KATA, "`torch.expm1(x.clamp(max=0))`")


def test_second_moments() -> None:
    s, x = 0.2, normal(1_000_000)
    assert F.leaky_relu(x, s).square().mean().item() == pytest.approx((1 + s * s) / 2, abs=2e-3)
    selu = 1.0507 * REFERENCE.elu(x, 1.6733)
    torch.testing.assert_close(selu, F.selu(x), rtol=1e-4, atol=0)
    assert [selu.mean().item(), selu.var().item()] == pytest.approx([0, 1], abs=0.01)
    assert said(KATA, "2 / ((1 + s²) fan_in)", "alpha = 1.6733, multiplied by 1.0507")

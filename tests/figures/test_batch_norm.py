"""The figures that batch_norm's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.figures import normal, reference_of, said

KATA = "batch_norm"
BatchNorm = reference_of(KATA).BatchNorm


def test_gradient_of_x() -> None:
    x, given = normal(9, 3).requires_grad_(), normal(18, 3)[9:]
    layer = BatchNorm(3, eps=0.0).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([2.0, -1.0, 0.5]))
    (gradient,) = torch.autograd.grad(layer(x), x, given)
    unit = (x - x.mean(0)) / x.std(0, correction=0)
    g = given * layer.weight
    expected = (g - g.mean(0) - unit * (g * unit).mean(0)) / x.std(0, correction=0)
    torch.testing.assert_close(gradient, expected)
    assert max(gradient.sum(0).abs().max(), (gradient * unit).sum(0).abs().max()) < 1e-12
    assert said(KATA, "dL/dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(σ² + ε)")


def test_example_by_hand() -> None:
    layer = BatchNorm(2)
    layer(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    torch.testing.assert_close(layer.running_mean, torch.tensor([0.2, 2]))
    torch.testing.assert_close(layer.running_var, torch.tensor([1.1, 20.9]))


@pytest.mark.parametrize("shape", [(7, 5), (4, 5, 3), (2, 5, 3, 4)])
def test_the_reference_is_torchs_own_layer(shape: tuple[int, ...]) -> None:
    ours = BatchNorm(5).double()
    own = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(5).double()
    for x in (normal(*shape), 3 * normal(*shape) + 1):
        torch.testing.assert_close(ours(x), own(x))
    torch.testing.assert_close([*ours.buffers()], [*own.buffers()][:2])
    torch.testing.assert_close(ours.eval()(x), own.eval()(x))


def test_large_means_keep_seven_digits() -> None:
    means = torch.tensor([1e6, -1.5e6, -1e6, 2e6], dtype=torch.float64)
    x = 2 * normal(16, 4) + means
    expected = F.batch_norm(x - means, None, None, training=True)
    assert (BatchNorm(4).double()(x) - expected).abs().max() < 1e-8
    assert said(
        KATA,
        "In float64, means of ±1 million to ±2 million and variances of about 1 to 9 are tested: everything must be",
    )


def test_scale_of_the_weights() -> None:
    layer, outputs = BatchNorm(3, eps=0.0).double(), []
    gradients: list[Tensor] = []
    for a in (1.0, 0.5):
        scaled = (a * normal(3, 4)).requires_grad_()
        outputs.append(layer(normal(9, 4) @ scaled.mT + torch.tensor([1.0, 2, 3]) * (1 - a)))  # nor does a bias
        gradients += torch.autograd.grad(outputs[-1], scaled, normal(18, 3)[9:])
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(2 * gradients[0], gradients[1])
    assert said(KATA, "weights of half the length have gradients twice as large, so with SGD the direction changes")


def test_two_values_keep_their_sign_alone() -> None:
    d, eps = 3.0, 1e-5
    result = BatchNorm(1, eps=eps).double()(torch.tensor([[1.0 + d], [1.0 - d]], dtype=torch.float64)).flatten()
    torch.testing.assert_close(result, torch.tensor([1.0, -1.0], dtype=torch.float64) * d / math.sqrt(d**2 + eps))
    assert said(KATA, "x̂ = ±d/√(d² + ε), with d half the difference")


def test_difference_of_squares() -> None:
    x = (normal(200, 64) + 1000).float()
    assert ((x * x).mean(1) - x.mean(1) ** 2 - 1).abs().max() > 0.05

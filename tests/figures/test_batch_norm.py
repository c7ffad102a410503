"""The figures that batch_norm's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "batch_norm"
(FOUND,) = katas.find([KATA], ROOT)
BatchNorm = load_module(FOUND.reference_file, "batch_norm_of_the_figures").BatchNorm


def normal(*shape: int, std: float = 1.0, mean: float = 0.0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * std + mean


def test_example_by_hand() -> None:
    layer = BatchNorm(2)
    layer(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    torch.testing.assert_close(layer.running_mean, torch.tensor([0.9 * 0 + 0.1 * 2, 0.9 * 0 + 0.1 * 20]))
    torch.testing.assert_close(layer.running_var, torch.tensor([0.9 * 1 + 0.1 * 2, 0.9 * 1 + 0.1 * 200]))
    assert [f"{number:.4f}" for number in ((1.2 - 0.2) / math.sqrt(1.1), (5 - 2) / math.sqrt(20.9))] == [
        "0.9535",
        "0.6562",
    ]
    assert said(KATA, "((−1)² + 1²) / 2 = 1", "2 / (2 − 1) times as large, 2 and 200")
    assert said(KATA, "0.9 · 0 + 0.1 · 2 = 0.2", "0.9 · 0 + 0.1 · 20 = 2", "0.9 · 1 + 0.1 · 2 = 1.1")
    assert said(KATA, "0.9 · 1 + 0.1 · 200 = 20.9", "(1.2 − 0.2) / √1.1 = 0.9535", "(5 − 2) / √20.9 = 0.6562")


@pytest.mark.parametrize("shape", [(7, 5), (4, 5, 3), (2, 5, 3, 4)])
def test_the_reference_is_torchs_own_layer(shape: tuple[int, ...]) -> None:
    ours = BatchNorm(5).double()
    own = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(5).double()
    for x in (normal(*shape), normal(*shape, std=3, mean=1)):
        torch.testing.assert_close(ours(x), own(x))
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(ours, name), getattr(own, name))
    torch.testing.assert_close(ours.eval()(x), own.eval()(x))


def test_large_means_keep_seven_digits() -> None:
    means = torch.tensor([1e6, -1.5e6, -1e6, 2e6], dtype=torch.float64)
    x = normal(16, 4, std=2) + means
    centred = x - means  # exact
    expected = F.batch_norm(centred, None, None, training=True)
    assert (BatchNorm(4).double()(x) - expected).abs().max() < 1e-8
    assert said(KATA, "with means between one and two million of either sign and a variance of 1 to 9, everything")
    assert math.ulp(1e12) == pytest.approx(0.00012, rel=0.02)
    assert said(KATA, "about 10¹² from each other, which float64 stores in steps of 0.00012")


def test_biased_variance_is_too_small() -> None:
    assert (1 - 7 / 8, round(1 - 999 / 1000, 6)) == (0.125, 0.001)
    biased = normal(20_000, 8).var(1, correction=0).mean()
    assert biased == pytest.approx(7 / 8, rel=0.01)
    assert said(KATA, "(n − 1)/n on average: by 12.5 % for n = 8, by 0.1 % for n = 1000")


def test_share_of_the_initial_statistics() -> None:
    for share, batches in ((0.9, 44), (0.99, 459)):
        assert share**batches < 0.01 < share ** (batches - 1)
    assert said(KATA, "With momentum 0.1 that is below 1 % after 44 batches, with 0.01 after 459")


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


def test_folded_layer() -> None:
    w, b, mean, var, gamma, beta = 3, 1, 2, 4, 6, 5
    s = gamma / math.sqrt(var)
    assert (s, s * w, s * (b - mean) + beta) == (3, 9, 2)
    for x in (0.0, 1.7):
        assert gamma * (w * x + b - mean) / math.sqrt(var) + beta == pytest.approx(9 * x + 2)
    assert said(
        KATA, "For W = 3, b = 1, μ = 2, σ² = 4, γ = 6, β = 5 and ε = 0: s = 3, so the weight is 9 and the bias 2"
    )


def test_scale_of_the_weights() -> None:
    layer, x, given = BatchNorm(3, eps=0.0).double(), normal(9, 4), normal(18, 3)[9:]
    weight = normal(12, 4)[9:].requires_grad_()
    outputs, gradients = [], []
    for a in (1.0, 0.5):
        scaled = (a * weight).detach().requires_grad_()
        outputs.append(layer(x @ scaled.mT + torch.tensor([1.0, 2.0, 3.0]) * (1 - a)))  # a bias changes nothing, either
        gradients.append(torch.autograd.grad(outputs[-1], scaled, given)[0])
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(2 * gradients[0], gradients[1])
    assert said(
        KATA, "weights of half the length have gradients twice as large, so the direction changes four times as"
    )


def test_two_values_keep_their_sign_alone() -> None:
    d, eps = 3.0, 1e-5
    result = BatchNorm(1, eps=eps).double()(torch.tensor([[1.0 + d], [1.0 - d]], dtype=torch.float64)).flatten()
    torch.testing.assert_close(result, torch.tensor([1.0, -1.0], dtype=torch.float64) * d / math.sqrt(d**2 + eps))
    assert said(KATA, "x̂ = ±d/√(d² + ε), with d half the difference")


def test_variance_over_two_devices() -> None:
    one = torch.tensor([-1.0, 1.0])
    assert torch.cat([one, one + 4]).var(correction=0) == 1 + 4
    assert said(KATA, "For two devices with means 0 and 4 and variances 1 and 1 the variance is 1 + 4 = 5, not 1")


def test_padding_counts() -> None:
    channel = torch.tensor([0.0, 0.0, 1.0, 3.0])
    assert [part.mean().item() for part in (channel[2:], channel)] == [2, 1]
    assert [part.var(correction=0).item() for part in (channel[2:], channel)] == [1, 1.5]
    assert said(KATA, "zeros and the others have mean 2 and variance 1, the channel has mean 1 and variance 1.5")


def test_number_of_means() -> None:
    N, C, positions = 32, 64, 56 * 56
    assert (N * positions, C * positions, N * C, positions, N * 32, C // 32 * positions) == (
        100_352,
        200_704,
        2_048,
        3_136,
        1_024,
        6_272,
    )
    assert said(KATA, "Batch norm takes 64, each of 32 · 56 · 56 = 100 352 values", "takes 32, each of 200 704")
    assert said(KATA, "takes 32 · 64 = 2 048, each of 3 136", "with 32 groups takes 1 024, each of 6 272")


def test_difference_of_squares() -> None:
    million = torch.tensor(1e6)
    assert torch.nextafter(million, 2 * million) - million == 0.0625
    assert torch.tensor(256.0, dtype=torch.float16).square().isinf()
    assert torch.tensor(255.0, dtype=torch.float16).square().isfinite()
    assert said(KATA, "both are about 10⁶, where float32 numbers are 0.0625 apart", "even the square of 256 overflows")
    variances = [(x * x).mean() - x.mean() ** 2 for x in normal(200, 64, mean=1000).float()]
    assert max(abs(variance - 1) for variance in variances) > 0.05

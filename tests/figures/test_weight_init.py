"""The figures that weight_init's texts state."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.figures import said

KATA = "weight_init"
FILE = Path(__file__).parents[2] / "solutions/foundations/weight_init/weight_init.py"
REFERENCE = SimpleNamespace(**runpy.run_path(str(FILE)))


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def tail(z: float) -> float:
    """The probability that a normal number is further than z from 0."""
    return math.erfc(z / math.sqrt(2))


def test_example_by_hand() -> None:
    fan_in, fan_out = REFERENCE.fans(torch.empty(16, 8, 5, 5))
    assert (fan_in, fan_out) == (8 * 25, 16 * 25) == (200, 400)
    assert said(KATA, "8 · 25 = 200 numbers, and one input goes into 16 · 25 = 400")
    scales = [math.sqrt(2 / fan_in), math.sqrt(6 / fan_in), math.sqrt(2 / 600), math.sqrt(6 / 600)]
    assert [round(scale, 3) for scale in scales] == [0.1, 0.173, 0.058, 0.1]
    assert said(KATA, "√(2 / 200) = 0.1, and its bound √(6 / 200) = 0.173")
    assert said(KATA, "√(2 / 600) = 0.058, and its bound √(6 / 600) = 0.1")
    assert said(KATA, "For fan_in = 200 the variance is 0.01 and σ is 0.1")
    assert (2 / 200, f"{math.sqrt(2 / 400):.3f}") == (0.01, "0.071")
    assert said(KATA, "for the shape (400, 200), σ is 0.1 with fan_in and 0.071 with fan_out")


def test_relu_halves_the_mean_square_not_the_variance() -> None:
    x = normal(1_000_000).relu()
    assert x.square().mean().item() == pytest.approx(0.5, rel=0.01)
    assert f"{0.5 - 1 / (2 * math.pi):.3f}" == "0.341"
    assert x.var().item() == pytest.approx(0.341, rel=0.01)
    assert said(KATA, "1/2 − 1/(2π) = 0.341")


def test_thirty_layers_without_the_gain() -> None:
    assert (f"{2**-30:.1e}", f"{2**-15:.1e}") == ("9.3e-10", "3.1e-05")
    assert said(KATA, "2⁻³⁰ = 9.3e-10, so the signal is at 3.1e-5")


def test_compromise_of_the_fans() -> None:
    variance = 2 / (200 + 400)
    assert (200 * variance, 400 * variance) == pytest.approx((2 / 3, 4 / 3))
    assert said(KATA, "for fan_in = 200 and fan_out = 400", "multiplied by 2/3, and that of the gradients by 4/3")


def test_largest_of_seventeen_million_normal_numbers() -> None:
    entries = 4096 * 4096
    assert f"{entries / 1e6:.1f}" == "16.8"
    assert entries * tail(5.35) > 1 > entries * tail(5.45)
    assert f"{math.sqrt(3):.2f}" == "1.73"
    assert said(KATA, "16.8 million normal entries of a 4096 × 4096 matrix, the largest is at about 5.4", "√3 = 1.73")


def test_cut_normal_has_less_spread() -> None:
    density = math.exp(-2) / math.sqrt(2 * math.pi)
    assert f"{math.sqrt(1 - 4 * density / (1 - tail(2))):.2f}" == "0.88"
    assert said(KATA, "lowers its standard deviation to 0.88")


def test_linear_layers_start_six_times_smaller() -> None:
    assert f"{math.sqrt(2 / (1 + 5)):.3f}" == "0.577"
    assert math.sqrt(3) * math.sqrt(2 / 6) / math.sqrt(200) == pytest.approx(1 / math.sqrt(200))
    assert (1 / math.sqrt(200)) ** 2 / 3 == pytest.approx(2 / 200 / 6)
    largest = nn.Linear(200, 400).weight.abs().max().item()
    assert largest == pytest.approx(1 / math.sqrt(200), rel=0.01)
    assert said(KATA, "√(2 / (1 + 5)) = 0.577", "1 / (3 · fan_in), a sixth")


def test_gains_are_torch_s() -> None:
    for slope in (0.0, 0.2, 1.0):
        assert nn.init.calculate_gain("leaky_relu", slope) == pytest.approx(math.sqrt(2 / (1 + slope**2)))
        assert F.leaky_relu(normal(1_000_000), slope).square().mean().item() == pytest.approx(
            (1 + slope**2) / 2, rel=0.01
        )
    assert nn.init.calculate_gain("tanh") == 5 / 3
    assert said(KATA, "E[x²] = (1 + s²) · Var(z) / 2", "For tanh torch uses 5/3")


def test_fans_of_a_depthwise_and_of_a_transposed_convolution() -> None:
    depthwise = nn.Conv2d(64, 64, 3, groups=64, bias=False)
    assert REFERENCE.fans(depthwise.weight) == (9, 576)
    x = torch.zeros(1, 64, 7, 7)
    x[0, 5, 3, 3] = 1
    assert (depthwise(x) != 0).sum() == 9
    assert nn.ConvTranspose2d(3, 8, 5).weight.shape == (3, 8, 5, 5)
    assert said(KATA, "3 × 3 convolution of 64 channels has fan_in = 9", "fan_out = 576, while one input goes into 9")


def test_version_counter_sees_all_but_data() -> None:
    weight = nn.Parameter(torch.ones(3, 2))
    versions = [weight._version]
    with torch.no_grad():
        weight.fill_(2)
    versions.append(weight._version)
    weight.detach().fill_(3)
    versions.append(weight._version)
    weight.data.fill_(4)
    versions.append(weight._version)
    assert versions == [0, 1, 2, 2]
    view, old = weight.detach(), weight.data_ptr()
    weight.data = torch.zeros(3, 2)
    assert weight.data_ptr() != old
    assert (view == 4).all()


def test_autograd_notices_what_data_hides() -> None:
    for noticed in (True, False):
        x, weight = torch.ones(3, requires_grad=True), nn.Parameter(torch.ones(3))
        product = (weight * x).sum()
        (weight.detach() if noticed else weight.data).zero_()
        if noticed:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                torch.autograd.grad(product, x)
        else:
            assert torch.autograd.grad(product, x)[0].tolist() == [0, 0, 0]


def test_zeros_everywhere_leave_the_last_bias_alone_to_learn() -> None:
    for activation in (nn.ReLU(), nn.Tanh()):
        model = nn.Sequential(nn.Linear(5, 4), activation, nn.Linear(4, 3))
        for parameter in model.parameters():
            nn.init.zeros_(parameter)
        names, parameters = zip(*model.named_parameters(), strict=True)
        loss = F.cross_entropy(model(normal(7, 5).float()), torch.arange(7) % 3)
        gradients = torch.autograd.grad(loss, parameters)
        learning = [name for name, gradient in zip(names, gradients, strict=True) if gradient.count_nonzero()]
        assert learning == ["2.bias"]
    assert said(KATA, "With zeros everywhere and ReLU or tanh, the gradient of every weight is 0 as well")


def test_thresholds_of_a_test_of_the_distribution() -> None:
    n = 100_000
    assert f"{math.sqrt(math.log(2e9) / (2 * n)):.4f}" == "0.0103"
    x = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    moved = max((torch.special.ndtr(x / off) - torch.special.ndtr(x)).abs().max().item() for off in (1.02, 1 / 1.02))
    assert f"{moved:.4f}" == "0.0048"
    assert f"{100 / math.sqrt(2 * n):.2f}" == "0.22"
    assert said(KATA, "With n = 100 000 and 10⁻⁹ that means t = 0.0103", "by no more than 0.0048")
    assert said(KATA, "1 / √(2n) = 0.22 %")


def test_standard_deviations_of_gpt_2() -> None:
    assert (f"{math.sqrt(2 / 768):.3f}", f"{math.sqrt(2 / (768 + 768)):.3f}") == ("0.051", "0.036")
    assert f"{0.02 / math.sqrt(2 * 12):.4f}" == "0.0041"
    assert said(KATA, "For a width of 768, Kaiming's rule gives 0.051 and Xavier's for square matrices 0.036")
    assert said(KATA, "with L = 12 blocks, 0.02 becomes 0.0041")


def test_normalised_layers_step_a_quarter() -> None:
    x, w = normal(64, 32), normal(8, 32)
    gradients: list[Tensor] = []
    for weight in (w, 2 * w):
        weight.requires_grad_()
        scaled = F.batch_norm(x @ weight.T, None, None, training=True, eps=1e-15)
        gradients += torch.autograd.grad((scaled * normal(64, 8)).sum(), weight)
    torch.testing.assert_close(gradients[1] * 2, gradients[0])
    assert said(KATA, "gradients half as large, on weights twice as large: the relative step of plain SGD is a quarter")


def test_example_is_far_from_its_rounding() -> None:
    """The doctest's figures are those of any right answer under nearly any seed: 3200 entries."""
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        weight = torch.empty(16, 8, 5, 5)
        assert f"{REFERENCE.kaiming_normal_(weight, generator).std().item():.2f}" == "0.10"
        assert f"{REFERENCE.xavier_uniform_(weight, generator).abs().max().item():.2f}" == "0.10"

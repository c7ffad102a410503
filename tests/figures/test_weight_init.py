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

from tests.figures import normal, said

KATA = "weight_init"
FILE = Path(__file__).parents[2] / "solutions/foundations/weight_init/weight_init.py"
REFERENCE = SimpleNamespace(**runpy.run_path(str(FILE)))


def test_example_is_far_from_its_rounding() -> None:
    """The doctest's figures are those of any right answer under nearly any seed: 3200 entries."""
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        weight = torch.empty(16, 8, 5, 5)
        assert f"{REFERENCE.kaiming_normal_(weight, generator).std().item():.2f}" == "0.10"
        assert f"{REFERENCE.xavier_uniform_(weight, generator).abs().max().item():.2f}" == "0.10"


def test_relu_halves_the_mean_square_not_the_variance() -> None:
    x = normal(1_000_000).relu()
    assert [x.square().mean().item(), x.var().item()] == pytest.approx([0.5, 0.341], rel=0.01)


def test_linear_layers_start_six_times_smaller() -> None:
    bound = 1 / math.sqrt(200)
    assert nn.Linear(200, 400).weight.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert math.sqrt(3) * math.sqrt(2 / 6) / math.sqrt(200) == pytest.approx(bound)
    assert bound**2 / 3 == pytest.approx(2 / 200 / 6)
    assert said(KATA, "1 / (3 · fan_in), a sixth", "for fan_in = 200 and fan_out = 400")


def test_gains_are_torch_s() -> None:
    for slope in (0.0, 0.2, 1.0):
        assert nn.init.calculate_gain("leaky_relu", slope) == pytest.approx(math.sqrt(2 / (1 + slope**2)))
        moment = F.leaky_relu(normal(1_000_000), slope).square().mean().item()
        assert moment == pytest.approx((1 + slope**2) / 2, rel=0.01)
    assert said(KATA, "E[x²] = (1 + s²) · Var(z) / 2")


def test_an_input_of_a_depthwise_convolution_goes_into_9() -> None:
    x = torch.zeros(1, 64, 7, 7)
    x[0, 5, 3, 3] = 1
    assert (nn.Conv2d(64, 64, 3, groups=64, bias=False)(x) != 0).sum() == 9
    assert nn.ConvTranspose2d(3, 8, 5).weight.shape == (3, 8, 5, 5)
    assert said(KATA, "while one input goes into 9")


def test_version_counter_sees_all_but_data() -> None:
    weight = nn.Parameter(torch.ones(3, 2))
    with torch.no_grad():
        weight.fill_(2)
    weight.detach().fill_(3)
    assert weight._version == 2
    weight.data.fill_(4)
    assert weight._version == 2
    view = weight.detach()
    weight.data = torch.zeros(3, 2)
    assert (view == 4).all()


def test_autograd_notices_what_data_hides() -> None:
    x, weight = torch.ones(3, requires_grad=True), nn.Parameter(torch.ones(3))
    product = (weight * x).sum()
    weight.data.zero_()
    assert torch.autograd.grad(product, x, retain_graph=True)[0].tolist() == [0, 0, 0]
    weight.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(product, x)


@pytest.mark.parametrize("activation", [nn.ReLU(), nn.Tanh()])
def test_zeros_everywhere_leave_the_last_bias_alone_to_learn(activation: nn.Module) -> None:
    model = nn.Sequential(nn.Linear(5, 4), activation, nn.Linear(4, 3))
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    loss = F.cross_entropy(model(normal(7, 5).float()), torch.arange(7) % 3)
    assert [one.any().item() for one in torch.autograd.grad(loss, list(model.parameters()))] == [False] * 3 + [True]
    assert said(KATA, "With zeros everywhere and ReLU or tanh, the gradient of every weight is 0 as well")


def test_normalised_layers_step_a_quarter() -> None:
    def loss(weight: Tensor) -> Tensor:
        scaled = F.batch_norm(normal(64, 32) @ weight.T, None, None, training=True, eps=1e-15)
        return (scaled * normal(64, 8)).sum()

    w, slope = normal(8, 32), torch.func.grad(loss)
    torch.testing.assert_close(slope(2 * w) * 2, slope(w))
    assert said(KATA, "weights twice as large get gradients half as large: the relative step of plain SGD is a quarter")

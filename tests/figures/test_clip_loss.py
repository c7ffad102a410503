"""The figures of clip_loss's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "clip_loss"


def test_example_by_hand() -> None:
    logits, own = torch.tensor([[0.6, 0.0], [0.8, 1.0]]), torch.arange(2)
    rows, columns = (F.cross_entropy(table, own, reduction="none") for table in (logits, logits.mT))
    losses = [f"{x:.4f}" for x in (*rows, *columns, rows.mean(), columns.mean(), (rows + columns).mean() / 2)]
    assert losses == ["0.4375", "0.5981", "0.7981", "0.3133", "0.5178", "0.5557", "0.5368"]
    assert said(KATA, "log(e^0.6 + e⁰) − 0.6 = 0.4375", "log(e^0.8 + e¹) − 1 = 0.5981")
    assert said(KATA, "log(e^0.6 + e^0.8) − 0.6 = 0.7981, and caption 1 log(e⁰ + e¹) − 1 = 0.3133")
    assert said(KATA, "0.4375 and 0.5981 is 0.5178, that of 0.7981 and 0.3133 is 0.5557", "mean of the two, 0.5368")


def test_factors_of_1_and_100_and_the_first() -> None:
    N = 32_768
    assert [f"{math.log(x):.2f}" for x in (1 + (N - 1) / math.e, N)] == ["9.40", "10.40"]
    assert math.log1p((N - 1) * math.exp(-100)) < 1e-38
    assert f"{N**2 * 4 / 1e9:.1f}" == "4.3"
    assert said(KATA, "log(1 + 32 767/e) = 9.40, hardly below the log N = 10.40", "N² logits in float32 are 4.3 GB")
    assert (f"{1 / 0.07:.2f}", f"{math.log(1 / 0.07):.2f}") == ("14.29", "2.66")
    assert (f"{math.exp(4.6052):.3f}", f"{math.exp(100 * 0.1):.0f}") == ("100.003", "22026")
    assert said(KATA, "a factor of 14.29 and a log of 2.66", "it gives a factor of 100.003", "e¹⁰ = 22 026")


def test_gradient_of_a_clamped_exponential() -> None:
    s = torch.tensor([88.72, 88.73, 1000.0], requires_grad=True)
    factor = s.exp().clamp(max=100)
    (gradient,) = torch.autograd.grad(factor.sum(), s)
    assert (factor.tolist(), gradient[0].item(), gradient[1:].isnan().tolist()) == ([100.0] * 3, 0.0, [True, True])
    assert not torch.autograd.grad((-s).exp().clamp(min=0.01).sum(), s)[0].any()
    assert torch.autograd.grad(torch.where(s < 4, s.exp(), 100.0).sum(), s)[0][1:].isnan().all()
    assert said(KATA, "For s above 88.72 the exponential overflows in float32", "In float32 that begins above 88.72")


def test_gradients_of_logits_and_scale() -> None:
    cosines = torch.rand((5, 5), generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 - 1
    s, own = torch.tensor(1.5, dtype=torch.float64, requires_grad=True), torch.arange(5)
    z = s.exp() * cosines
    loss = (F.cross_entropy(z, own) + F.cross_entropy(z.mT, own)) / 2
    of_s, of_z = torch.autograd.grad(loss, [s, z])
    ahead = (z.softmax(1) * z).sum(1) + (z.softmax(0) * z).sum(0) - 2 * z.diagonal()
    torch.testing.assert_close(of_s, ahead.mean() / 2)
    torch.testing.assert_close(of_z, (z.softmax(1) + z.softmax(0) - 2 * torch.eye(5)) / 10)
    assert said(KATA, "Σ_j p_ij z_ij − z_ii", "(p_ij − [i = j]) / 2N from each direction")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    scales = {case: [one["logit_scale"].item() for one in asked] for case, asked in inputs.items()}
    assert (min(scales["scales"]), max(scales["far_beyond_the_bound"])) == (-12, 1000)
    assert math.isclose(math.exp(-scales["small_temperature_in_half"][0]), 0.05)
    assert said(KATA, "−12 is asked", "In half precision τ may be 0.05")

"""The figures of info_nce's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "info_nce"


def rows_of(features: Tensor, temperature: float) -> Tensor:
    """The loss of each row."""
    unit = F.normalize(features, dim=1)
    logits = (unit @ unit.mT / temperature).fill_diagonal_(-torch.inf)
    return F.cross_entropy(logits, torch.arange(len(unit)).roll(len(unit) // 2), reduction="none")


def test_example_by_hand() -> None:
    rows = rows_of(torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [-2.0, 0.0]]), 1.0)
    assert f"{math.log(1 + math.exp(0.6) + math.exp(-1)) - 0.6:.4f}" == "0.5600"
    assert [f"{row:.4f}" for row in rows] == ["0.5600", "1.4411", "0.9253", "0.6506"]
    assert f"{rows.mean():.4f}" == "0.8943"
    assert said(KATA, "log(e⁰ + e^0.6 + e⁻¹) − 0.6 = 0.5600. The others have 1.4411, 0.9253 and 0.6506")
    assert said(KATA, "the mean of the four is 0.8943")


def test_loss_of_equal_similarities() -> None:
    assert [f"{math.log(2 * N - 1):.2f}" for N in (256, 2048)] == ["6.24", "8.32"]
    assert said(KATA, "for N = 256 that is 6.24", "6.24 for N = 256 and 8.32 for N = 2 048")


def test_least_loss_is_that_of_a_simplex() -> None:
    N, temperature = 4, 0.3
    corners = torch.eye(N, dtype=torch.float64) - 1 / N
    features = (corners @ torch.linalg.svd(corners).Vh[: N - 1].mT).repeat(2, 1)  # in D = N − 1
    least = math.log(1 + (2 * N - 2) * math.exp(-N / ((N - 1) * temperature)))
    assert rows_of(features, temperature).mean().item() == pytest.approx(least)
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        moved = features + 0.1 * torch.randn(features.shape, generator=generator, dtype=torch.float64)
        assert rows_of(moved, temperature).mean() > least
    assert said(KATA, "cosines of −1/(N − 1) between them", "log(1 + (2N − 2)·exp(−N / ((N − 1)·τ)))")


def test_gradient_on_similarities() -> None:
    similarities = torch.tensor([0.9, 0.2, -0.1, 0.5], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(F.cross_entropy(similarities / 0.1, torch.tensor(0)), similarities)
    shares = (similarities / 0.1).softmax(0)
    expected = torch.cat([shares[:1] - 1, shares[1:]]) / 0.1
    torch.testing.assert_close(gradient, expected.detach())
    assert gradient.sum().abs() < 1e-12
    assert said(KATA, "−(1 − p⁺)/τ", "p_k/τ each, which adds up to the same (1 − p⁺)/τ")


def test_share_of_an_easy_positive() -> None:
    warm, cold = (math.exp(0.9 / t) / (math.exp(0.9 / t) + 510) for t in (1.0, 0.1))
    assert (f"{cold:.2f}", f"{warm:.3f}") == ("0.94", "0.005")
    assert said(KATA, "a cosine of 0.9 against 510 negatives at 0 has p⁺ = 0.94; at τ = 1 it has 0.005")


def test_learned_temperature() -> None:
    assert f"{math.log(1 / 0.07):.2f}" == "2.66"
    assert said(KATA, "CLIP starts at 0.07, that is t = 2.66")


def test_exp_of_100_overflows_float32() -> None:
    assert torch.tensor(1 / 0.01).exp().isinf()
    assert said(KATA, "InfoNCE at τ = 0.01", "exp(1/τ) is exp(100), while float32 ends")


def test_false_negatives_of_balanced_classes() -> None:
    assert f"{1 - (1 - 1 / 1000) ** 255:.0%}" == "23%"
    assert said(KATA, "1 000 balanced classes and 256 samples, 23 % of the anchors have at least one")


def test_negatives_of_micro_batches() -> None:
    assert 8 * 32 == 256
    assert [2 * N - 2 for N in (32, 256)] == [62, 510]
    assert said(KATA, "8 micro-batches of 32 samples give each anchor 62 negatives, where one batch of 256 has 510")


def test_age_of_keys_in_a_queue() -> None:
    assert 65_536 / 256 == 256
    assert f"{0.999**256:.0%}" == "77%"
    assert said(KATA, "65 536 keys from batches of 256 reach back 256 steps", "over 256 steps it keeps 77 %")


def test_memory_of_all_similarities() -> None:
    assert f"{(2 * 32_768) ** 2 * 4 / 1e9:.0f}" == "17"
    assert said(KATA, "for N = 32 768 in float32 that is 17 GB each")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert [inputs[case][0]["temperature"] for case in ("small_temperature", "small_temperature_in_half")] == [
        1e-3, 0.05,
    ]  # fmt: skip
    norms = [one["features"].norm(dim=1) for one in inputs["uneven_lengths"]]
    assert 1e7 < norms[0].max() / norms[0].min() < 1e9
    assert 1e-5 < norms[1].min() < 1e-3
    assert 1e6 < norms[2].max() < 1e7
    of_half = inputs["norm_fits_float16"][0]["features"].norm(dim=1)
    assert of_half.max() < torch.finfo(torch.float16).max < of_half.min() ** 2
    assert said(KATA, "factors of up to 1e8, down to about 1e-7, or else all be multiplied by 1e-4 or by 1e6")
    assert said(KATA, "the temperature may be 1e-3", "the temperature may be 0.05")

"""The figures of info_nce's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.figures import normal, reference_of, said
from tests.figures.asked import inputs_of

KATA = "info_nce"


def test_least_loss_is_that_of_a_simplex() -> None:
    N, temperature, info_nce = 4, 0.3, reference_of(KATA).info_nce
    corners = torch.eye(N, dtype=torch.float64) - 1 / N
    features = (corners @ torch.linalg.svd(corners).Vh[: N - 1].mT).repeat(2, 1)  # in D = N − 1
    least = math.log(1 + (2 * N - 2) * math.exp(-N / ((N - 1) * temperature)))
    assert info_nce(features, temperature).item() == pytest.approx(least)
    assert min(info_nce(features + 0.1 * noise, temperature) for noise in normal(20, 2 * N, N - 1)) > least
    assert said(KATA, "cosines of −1/(N − 1) between them", "log(1 + (2N − 2)·exp(−N / ((N − 1)·τ)))")


def test_gradient_on_similarities() -> None:
    similarities = torch.tensor([0.9, 0.2, -0.1, 0.5], dtype=torch.float64)
    gradient = torch.func.grad(lambda s: F.cross_entropy(s / 0.1, torch.tensor(0)))(similarities)
    torch.testing.assert_close(gradient, ((similarities / 0.1).softmax(0) - torch.tensor([1.0, 0, 0, 0])) / 0.1)
    assert said(KATA, "−(1 − p⁺)/τ", "p_k/τ each, which adds up to the same (1 − p⁺)/τ")
    assert said(KATA, "InfoNCE at τ = 0.01", "exp(1/τ) is exp(100), while float32 ends")


def test_lengths_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    norms = [one["features"].norm(dim=1) for one in inputs["uneven_lengths"]]
    assert 1e7 < norms[0].max() / norms[0].min() < 1e9
    assert 1e-7 < norms[0].min() < 1e-5
    assert 1e-5 < norms[1].min() < 1e-3
    assert 1e6 < norms[2].max() < 1e7
    of_half = inputs["norm_fits_float16"][0]["features"].norm(dim=1)
    assert of_half.max() < torch.finfo(torch.float16).max < of_half.min() ** 2
    assert said(KATA, "1e8 times as long as the shortest, which may be about 1e-6 long", "multiplied by 1e-4 or by 1e6")

"""The figures of debiased_contrastive's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "debiased_contrastive"
(FOUND,) = katas.find([KATA], ROOT)
debiased_info_nce = load_module(FOUND.reference_file, "debiased_contrastive_of_the_figures").debiased_info_nce


def test_example_by_hand() -> None:
    losses, estimates = [], []
    for positive, *negatives in ((0.6, 0, -1), (0, 0, 0.8), (0.6, 0.8, -0.6), (0, -1, -0.6)):
        mean = sum(math.exp(one) for one in negatives) / 2
        estimates.append((mean - 0.5 * math.exp(positive)) / 0.5)
        losses.append(math.log(math.exp(positive) + 2 * max(estimates[-1], math.exp(-1))) - positive)
    assert [f"{loss:.4f}" for loss in losses] == ["0.3392", "1.6958", "0.7155", "0.5514"]
    assert [f"{one:.4f}" for one in estimates[1:3]] == ["2.2255", "0.9522"]
    assert estimates[0] < 0
    assert estimates[3] < math.exp(-1)
    assert f"{sum(losses) / 4:.4f}" == "0.8255"
    assert [f"{x:.4f}" for x in (math.exp(-1), (1 + math.exp(-1)) / 2, math.exp(0.6), (1 + math.exp(0.8)) / 2)] == [
        "0.3679",
        "0.6839",
        "1.8221",
        "1.6128",
    ]
    assert said(KATA, "e⁻¹ = 0.3679", "= 0.6839", "log(1.8221 + 2 · 0.3679) − 0.6 = 0.3392", "its loss is 0.7155")
    assert said(KATA, "(1.6128 − 0.5)/0.5 = 2.2255", "log(1 + 2 · 2.2255) − 0 = 1.6958", "g = 0.9522", "is 0.5514")


def test_floor_and_factor() -> None:
    threshold = 0.1 * math.exp(0.9 / 0.5) + 0.9 * math.exp(-1 / 0.5)
    assert f"{threshold:.3f} {0.5 * math.log(threshold):.2f}" == "0.727 -0.16"
    assert f"{1 - 510 * 0.1 / 0.9:.1f}" == "-55.7"
    assert said(KATA, "that is 0.727", "cosine −0.16 or less", "With M = 510 and τ⁺ = 0.1 that is −55.7")


def test_gradients_of_a_row_add_up_to_0_above_the_floor() -> None:
    p, n = torch.tensor(0.3, requires_grad=True), torch.linspace(-0.2, 0.6, 510).requires_grad_()
    g = ((n / 0.5).exp().mean() - 0.1 * (p / 0.5).exp()) / 0.9
    pull, push = torch.autograd.grad(((p / 0.5).exp() + 510 * g).log() - p / 0.5, (p, n))
    assert g > math.exp(-2)
    assert pull < -1 / 0.5
    assert pull + push.sum() == pytest.approx(0, abs=1e-5)


def test_numbers_of_the_dtypes() -> None:
    assert f"{math.exp(100):.1e} {math.exp(-100):.1e}" == "2.7e+43 3.7e-44"
    assert math.exp(-100) / 2**-149 < 100  # steps of float32's subnormal numbers
    tops = [math.log(torch.finfo(dtype).max) for dtype in (torch.float32, torch.float16)]
    assert tops[0] < 88.73 < tops[0] + 0.01
    assert tops[1] < 11.09 + 0.01
    assert tops[1] > 11.08
    assert f"{torch.finfo(torch.bfloat16).eps:.3f}" == "0.008"
    assert 510 * 0.1 == 51
    assert said(
        KATA, "from 1/τ = 88.73 on", "from 11.09 on", "exp(100) is 2.7e43", "3.7e−44", "0.008 apart", "51 for M"
    )


def test_equal_rows() -> None:
    losses = [debiased_info_nce(torch.ones(512, 3), 0.5, share) for share in (0.0, 0.1, 0.9)]
    assert [f"{loss:.2f}" for loss in losses] == ["6.24"] * 3
    assert said(KATA, "6.24 for N = 256", "log(2N − 1)")


def test_smallest_temperatures() -> None:
    inputs = inputs_of(KATA)
    asked = [{one["temperature"] for one in inputs[f"small_temperature{end}"]} for end in ("", "_in_half")]
    assert asked == [{0.01}, {0.05}]
    assert said(KATA, "temperature may be 0.01", "temperature may be 0.05")

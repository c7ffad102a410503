"""The figures of hard_negatives's texts, calculated again."""

from __future__ import annotations

import math

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said
from tests.figures.asked import inputs_of

KATA = "hard_negatives"
(FOUND,) = katas.find([KATA], ROOT)
info_nce_hard = load_module(FOUND.reference_file, "hard_negatives_of_the_figures").info_nce_hard


def test_example_by_hand() -> None:
    cosines = ((0.6, 0), (0, 0.8), (0.6, 0.8), (0, -0.6))
    rows = [math.log(math.exp(positive) + math.exp(hard)) - positive for positive, hard in cosines]
    assert [f"{row:.4f}" for row in rows] == ["0.4375", "1.1711", "0.7981", "0.4375"]
    assert f"{sum(rows) / 4:.4f}" == "0.7111"
    assert said(KATA, "log(e^0.6 + e⁰) − 0.6 = 0.4375", "log(e⁰ + e^0.8) − 0 = 1.1711", "with its positive: 0.7981")
    assert said(KATA, "0 with its positive: 0.4375. The mean of the four is 0.7111")


def test_weights_of_negatives() -> None:
    one = math.exp(0.7 / 0.1)
    assert f"{one:.0f}" == "1097"
    assert 2 < one / 510 < 3
    assert [f"{500 / (500 + 10 * math.exp(0.7 / t)):.0%}" for t in (0.1, 1)] == ["4%", "96%"]
    assert said(KATA, "e⁷ = 1 097 times as much", "more than twice as much as 510", "make 4 % of", "they make 96 %")


def test_numbers_of_bfloat16_and_memory() -> None:
    assert 0.5 / (torch.finfo(torch.bfloat16).eps / 2) == 128  # that far apart from ½ up to 1
    assert f"{65_536 * 10 * 4 / 1e6:.1f} {65_536**2 * 4 / 1e9:.0f}" == "2.6 17"
    assert said(KATA, "bfloat16 has only 128 numbers from 0.5 up to 1", "For 65 536 rows and k = 10", "2.6 MB", "17 GB")


def test_loss_of_equal_rows() -> None:
    losses = [info_nce_hard(torch.ones(512, 3), 0.1, k) for k in (10, 510)]
    assert [f"{loss:.2f}" for loss in losses] == ["2.40", "6.24"]
    assert said(KATA, "2.40 for k = 10, and 6.24 for the 510 negatives of 256 samples", "log(1 + k)")


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert [inputs[case][0]["temperature"] for case in ("small_temperature", "small_temperature_in_half")] == [
        1e-3,
        0.05,
    ]
    uneven, short, long = (one["features"].norm(dim=1) for one in inputs["uneven_lengths"])
    assert 1e7 < uneven.max() / uneven.min() < 1e9
    assert short.min() < 1e-3 < 1e6 < long.max()
    norms = inputs["norm_fits_float16"][0]["features"].norm(dim=1)
    assert norms.max() < torch.finfo(torch.float16).max < norms.min() ** 2
    assert said(KATA, "factors of up to 1e8, down to about 1e-7, or else all be multiplied by 1e-4 or by 1e6")

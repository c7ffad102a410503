"""The figures in the texts of f1_score, calculated again."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from sklearn.metrics import precision_recall_fscore_support  # type: ignore[import-untyped]

from graders.catalogue import katas
from graders.faults import ROOT
from tests.figures import said

KATA = "f1_score"


def wilson(hits: int, samples: int) -> str:
    """The 95 % interval of a share."""
    share, z = hits / samples, 1.959964
    middle = share + z**2 / (2 * samples)
    half = z * math.sqrt(share * (1 - share) / samples + z**2 / (4 * samples**2))
    low, high = ((middle + sign * half) / (1 + z**2 / samples) for sign in (-1, 1))
    return f"from {low:.2f} to {high:.2f}"


def test_intervals_of_shares() -> None:
    assert said(KATA, f"10 right of 20 is 0.5, but the 95 % Wilson interval runs {wilson(10, 20)}")
    assert said(KATA, f"a recall of 16/20 has a 95 % Wilson interval {wilson(16, 20)}")


def test_small_rates_that_the_grader_asks_for() -> None:
    assert 1 / 420 < Fraction(3, 1204) < 1 / 390
    assert said(KATA, "rates as small as 1/400", "looks at rates of 1/400")


def test_accuracy_that_is_asked_for() -> None:
    (kata,) = katas.find([KATA], ROOT)
    assert kata.grader.answers[0].tolerance[torch.float32].relative == 2e-6
    assert said(KATA, "right to 2 parts in a million")


def test_example_by_hand() -> None:
    precision, recall, *_ = precision_recall_fscore_support([0] * 4 + [1, 1, 2], [0, 0, 1, 2, 1, 1, 1], zero_division=0)
    assert (precision.tolist(), recall.tolist()) == ([1, 0.5, 0], [0.5, 1, 0])
    assert said(KATA, "are both 1/2", "with precisions 1, ½, 0 and recalls ½, 1, 0")


def test_best_threshold_is_half_of_the_best_f1() -> None:
    threshold = torch.linspace(0, 0.999, 100_000, dtype=torch.float64)
    best, where = ((1 - threshold**2) / (1 - threshold + 1 / 2)).max(0)  # probabilities spread evenly over [0, 1]
    assert f"{best:.3f} {threshold[where]:.3f} {best / 2:.3f}" == "0.764 0.382 0.382"
    assert said(KATA, "the best F1 is 0.764, at a threshold of 0.382")


def test_f_beta_is_the_weighted_harmonic_mean() -> None:
    for beta in (0.5, 2):
        harmonic = (1 + beta**2) / (1 / 0.3 + beta**2 / 0.8)
        assert (1 + beta**2) * 0.3 * 0.8 / (beta**2 * 0.3 + 0.8) == pytest.approx(harmonic)
    assert said(KATA, "(1 + β²) P R / (β² P + R)")

"""The figures in the texts of f1_score, calculated again."""

from __future__ import annotations

from fractions import Fraction

import torch

from graders.catalogue import katas
from graders.faults import ROOT
from tests.figures import said

KATA = "f1_score"


def test_small_rates_that_the_grader_asks_for() -> None:
    assert 1 / 420 < Fraction(3, 1204) < 1 / 390
    assert said(KATA, "rates as small as 1/400", "looks at rates of 1/400")


def test_accuracy_that_is_asked_for() -> None:
    (kata,) = katas.find([KATA], ROOT)
    assert kata.grader.answers[0].tolerance[torch.float32].relative == 2e-6
    assert said(KATA, "right to 2 parts in a million")


def test_best_threshold_is_half_of_the_best_f1() -> None:
    threshold = torch.linspace(0, 0.999, 100_000, dtype=torch.float64)
    best, where = ((1 - threshold**2) / (1 - threshold + 1 / 2)).max(0)  # probabilities spread evenly over [0, 1]
    assert f"{best:.3f} {threshold[where]:.3f} {best / 2:.3f}" == "0.764 0.382 0.382"
    assert said(KATA, "the best F1 is 0.764, at a threshold of 0.382")

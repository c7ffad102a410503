"""The figures that bayes_rule's texts state."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "bayes_rule"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "bayes_rule_of_the_figures")


def posterior(prior: list[float], likelihood: list[float]) -> Tensor:
    result: Tensor = REFERENCE.posterior(torch.tensor(prior).double(), torch.tensor(likelihood).double())
    return result


def test_example_by_hand() -> None:
    assert (round(0.1 * 0.9 + 0.9 * 0.2, 9), round(0.1 * 0.1 + 0.9 * 0.8, 9)) == (0.27, 0.73)
    assert [f"{0.09 / 0.27:.4f}", f"{0.01 / 0.73:.4f}"] == ["0.3333", "0.0137"]
    assert f"{math.log(0.1 * math.e / (0.1 * math.e + 0.9)):.4f}" == "-1.4612"
    assert said(KATA, "0.1 · 0.9 + 0.9 · 0.2 = 0.27", "0.09 / 0.27 = 1/3", "0.1 · 0.1 + 0.9 · 0.8 = 0.73")
    assert said(KATA, "0.01 / 0.73 = 0.0137", "log(0.1 · e / (0.1 · e + 0.9)) = −1.4612")


def test_base_rates() -> None:
    once = posterior([0.01, 0.99], [0.99, 0.01])
    assert 100 * 0.99 == 9900 * 0.01 == 99
    assert once.tolist() == pytest.approx([0.5, 0.5])
    assert float(posterior(once.tolist(), [0.99, 0.01])[0]) == pytest.approx(0.99)
    assert said(KATA, "of whom 99 test positive, and 9 900 are healthy, of whom 99 test positive, too")
    assert said(KATA, "0.5 · 0.99 / (0.5 · 0.99 + 0.5 · 0.01) = 0.99")


def test_underflow() -> None:
    assert torch.tensor(0.5) ** 150 == 0.1**324 == math.exp(-1000) == 0
    assert torch.tensor(0.5) ** 149 > 0
    assert 0.1**323 > 0
    assert said(KATA, "0.5 to the power of 150 is 0 in float32, and 0.1 to the power of 324 is 0 in float64")


def test_a_feature_counted_twice_and_a_new_prior() -> None:
    assert f"{posterior([0.5, 0.5], [0.9**2, 0.1**2])[0]:.3f}" == "0.988"
    assert f"{posterior([0.01, 0.99], [0.9, 0.1])[0]:.3f}" == "0.083"
    assert said(KATA, "0.81 / (0.81 + 0.01) = 0.988", "0.9 · 0.01 / (0.9 · 0.01 + 0.1 · 0.99) = 0.083")


def test_monty_hall() -> None:
    torch.testing.assert_close(posterior([1 / 3] * 3, [1 / 2, 1, 0]), torch.tensor([1 / 3, 2 / 3, 0]).double())
    assert sum(x / 3 for x in (1 / 2, 1, 0)) == 1 / 2
    assert said(KATA, "The total probability is 1/2, and the posterior (1/3, 2/3, 0)")

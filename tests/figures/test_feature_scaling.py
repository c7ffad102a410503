"""The figures that feature_scaling's texts state, and scikit-learn's opinion of the reference."""

from __future__ import annotations

import math

import pytest
import torch
from sklearn import preprocessing  # type: ignore[import-untyped]
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from graders.judge.vectors import TestVectors
from graders.kata.spec import Draw
from tests.figures import said

KATA = "feature_scaling"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "feature_scaling_of_the_figures")
SKLEARN = {
    "min_max": preprocessing.minmax_scale, "z_score": preprocessing.scale, "max_abs": preprocessing.maxabs_scale,
    "robust": preprocessing.robust_scale, "l1_normalize": lambda x: preprocessing.normalize(x, norm="l1"),
    "l2_normalize": preprocessing.normalize,
}  # fmt: skip


def spread_of(scaled: Tensor) -> float:
    """Of the 99 numbers that are no outliers."""
    return (scaled[98] - scaled[0]).item()


@pytest.mark.filterwarnings("ignore:Numerical issues")  # of a constant column, whose mean is rounded
@pytest.mark.parametrize("name", SKLEARN)
def test_oracle_agrees_with_sklearn(name: str) -> None:
    answer = FOUND.grader.answer(name)
    assert answer.oracle
    vectors, edges = TestVectors(KATA, FOUND.grader, 0), FOUND.grader.answer("l2_normalize").cases[-1]
    at_edges = [arguments for arguments in vectors.arguments(edges) if arguments["function"] == name]
    for arguments in (*vectors.arguments(answer.cases[0]), *at_edges):
        expected = torch.as_tensor(SKLEARN[name](arguments["x"].numpy()))
        torch.testing.assert_close(answer.oracle(arguments["x"]), expected, rtol=1e-9, atol=1e-12)


def test_example_by_hand() -> None:
    assert f"{1 / 9:.4f} {(9 + 4 + 1 + 36) / 4} {6 / math.sqrt(12.5):.4f}" == "0.1111 12.5 1.6971"
    assert ((1 + 0.75 * 1, 3 + 0.25 * 7), (10 - 2.5) / 3) == ((1.75, 4.75), 2.5)
    assert said(KATA, "(10 − 4) / 3.5355 = 1.6971", "(10 − 2.5) / 3 = 2.5", "0.75 and is 1.75", "3 + 0.25 · 7 = 4.75")


def test_one_outlier() -> None:
    x = torch.cat([torch.linspace(0, 1, 99), torch.tensor([1000.0])]).double()[:, None]
    assert spread_of(REFERENCE.min_max(x)) == spread_of(REFERENCE.max_abs(x)) == 0.001
    assert f"{x.std(correction=0):.0f} {spread_of(REFERENCE.z_score(x)):.2f}" == "99 0.01"
    robust = REFERENCE.robust(x)
    assert f"{spread_of(robust):.0f} {robust.max() / 1000:.0f}" == "2 2"
    assert said(KATA, "99 numbers spread evenly from 0 to 1", "σ is about 99", "a range of about 2", "about 2000")


def test_skewness_is_kept() -> None:
    x = -torch.rand(1_000_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64).log()
    skewness = [(REFERENCE.z_score(y) ** 3).mean() for y in (x, REFERENCE.min_max(x))]
    torch.testing.assert_close(*skewness)
    assert f"{skewness[0]:.1f}" == "2.0"
    assert said(KATA, "The skewness of exponential data is 2 before and after")


def test_rounding() -> None:
    tenths = torch.full((7,), 0.1, dtype=torch.float64)
    assert f"{(tenths - tenths.mean()).abs().max():.1e}" == "1.4e-17"
    assert math.nextafter(1e8, 2e8) > 1e8
    assert torch.nextafter(torch.tensor(1e8), torch.tensor(2e8)) - 1e8 == 8
    small = torch.tensor(1e-12, dtype=torch.float64)
    assert f"{abs((1 + small).log() / 1e-12 - 1):.0e}" == "9e-05"
    assert f"{math.log(1e-8):.1f} {math.log(0.5):.2f}" == "-18.4 -0.69"
    assert [f"{math.sqrt(n / (n - 1)):.{digits}f}" for n, digits in ((10, 3), (1000, 4))] == ["1.054", "1.0005"]
    assert said(KATA, "1.4e-17", "8 apart", "off by 9e-5 of itself", "sends zeros to −18.4", "1.054 for ten", "1.0005")


def test_merging_condition_number_and_sparse_table() -> None:
    x = Draw(0).normal(12)
    a, b = x[:5], x[5:]
    squares = [((y - y.mean()) ** 2).sum() for y in (a, b, x)]
    torch.testing.assert_close(squares[0] + squares[1] + (b.mean() - a.mean()) ** 2 * 5 * 7 / 12, squares[2])
    torch.testing.assert_close(a.mean() + (b.mean() - a.mean()) * 7 / 12, x.mean())
    assert (1000**2, 10**6 * 10**4 // 1000, 4 * 10**6 * 10**4) == (10**6, 10**7, 40 * 10**9)
    assert said(KATA, "is a million", "ten million numbers, and 40 GB", "S + T + (b − a)² n m / (n + m)")

"""The figures that feature_scaling's texts state, and scikit-learn's opinion of the reference."""

from __future__ import annotations

import pytest
import torch
from sklearn import preprocessing  # type: ignore[import-untyped]
from torch import Tensor

from graders.catalogue import katas
from graders.judge.vectors import TestVectors
from graders.kata.draw import Draw
from tests.figures import reference_of, said

KATA = "feature_scaling"
(FOUND,) = katas.find([KATA])
REFERENCE = reference_of(KATA)
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


def test_one_outlier() -> None:
    x = torch.cat([torch.linspace(0, 1, 99), torch.tensor([1000.0])]).double()[:, None]
    assert spread_of(REFERENCE.min_max(x)) == spread_of(REFERENCE.max_abs(x)) == 0.001
    assert f"{x.std(correction=0):.0f} {spread_of(REFERENCE.z_score(x)):.2f}" == "99 0.01"
    robust = REFERENCE.robust(x)
    assert f"{spread_of(robust):.0f} {robust.max() / 1000:.0f}" == "2 2"
    assert said(KATA, "99 numbers are spread evenly from 0 to 1", "σ is about 99", "a range of about 2", "about 2000")


def test_merging_condition_number_and_sparse_table() -> None:
    x = Draw(0).normal(12)
    a, b = x[:5], x[5:]
    squares = [((y - y.mean()) ** 2).sum() for y in (a, b, x)]
    torch.testing.assert_close(squares[0] + squares[1] + (b.mean() - a.mean()) ** 2 * 5 * 7 / 12, squares[2])
    torch.testing.assert_close(a.mean() + (b.mean() - a.mean()) * 7 / 12, x.mean())
    assert (1000**2, 10**6 * 10**4 // 1000, 4 * 10**6 * 10**4) == (10**6, 10**7, 40 * 10**9)
    assert said(KATA, "is a million", "ten million numbers, and take 40 GB", "S + T + (b − a)² n m / (n + m)")

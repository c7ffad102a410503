"""The figures in the texts of roc_auc, calculated again."""

from __future__ import annotations

import itertools

import pytest
import torch
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score  # type: ignore[import-untyped]

from graders.catalogue import katas
from tests.figures import normal, said

KATA = "roc_auc"
EXAMPLE = [0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 0.2]


def test_precisions_of_the_example() -> None:
    precision, _, thresholds = precision_recall_curve(*EXAMPLE)
    assert thresholds[::-1].tolist() == [0.8, 0.4, 0.2, 0.1]
    assert precision[:-1][::-1].tolist() == pytest.approx([1, 2 / 3, 3 / 4, 3 / 5])
    assert said(KATA, "it is 1, 2/3, 3/4 and 3/5 at the thresholds 0.8, 0.4, 0.2 and 0.1")


def test_variance_by_delong() -> None:
    generator = torch.Generator().manual_seed(0)
    positives = torch.randn(2000, 30, 1, generator=generator) + 1
    beats = (positives > torch.randn(2000, 1, 60, generator=generator)).double()
    areas, variances = beats.mean((1, 2)), beats.mean(2).var(1) / 30 + beats.mean(1).var(1) / 60
    assert variances.mean() == pytest.approx(float(areas.var()), rel=0.1)
    assert said(KATA, "S⁺/n₊ + S⁻/n₋")


def test_accuracy_that_is_asked_for() -> None:
    tolerances = katas.find([KATA])[0].grader.answers[1].tolerance.values()
    assert {(each.relative, each.scaled, each.absolute) for each in tolerances} == {(0, 0, 1e-10)}
    assert said(KATA, "right to 1e-10 whatever the dtype of `y_score`", "32-bit integers, which end at 2³¹ − 1")
    assert torch.finfo(torch.float32).eps / 2 == pytest.approx(6e-8, rel=0.01)
    assert said(KATA, "are off in the eighth digit")


def test_average_precision_of_a_high_area() -> None:
    area = 0.0
    for (x0, y0), (x1, y1) in itertools.pairwise([(0, 0), (0.1, 0.8), (0.5, 1), (1, 1)]):
        x, y = torch.linspace(x0, x1, 10_001).double(), torch.linspace(y0, y1, 10_001).double()
        area += torch.trapezoid((10 * y / (10 * y + 990 * x).clamp_min(1e-12))[1:], y[1:]).item()
    assert f"{area:.3f}" == "0.067"
    assert said(KATA, "With many thresholds along this curve, the average precision is 0.067", "8/107")


def test_chance_levels() -> None:
    y_true, y_score = (torch.arange(100_000) % 100 == 0).tolist(), normal(100_000).tolist()
    assert roc_auc_score(y_true, y_score) == pytest.approx(0.5, abs=0.02)
    assert average_precision_score(y_true, y_score) == pytest.approx(0.01, abs=0.002)
    assert said(KATA, "a random score has an AUC of about ½", "0.01 where 1 % are positive")


def test_error_of_histograms_is_bounded() -> None:
    negatives, positives = normal(20_000), normal(20_300)[20_000:] + 1
    edges = negatives.sort().values[20::20].contiguous()
    binned = [torch.bucketize(each, edges, right=True) for each in (positives, negatives)]
    shares = [torch.bincount(each, minlength=1000) / len(each) for each in binned]
    y_true = [1] * 300 + [0] * 20_000
    exact, coarse = (roc_auc_score(y_true, torch.cat(list(each)).tolist()) for each in ((positives, negatives), binned))
    assert 0 < abs(exact - coarse) <= (shares[0] * shares[1]).sum() / 2 == pytest.approx(0.0005)

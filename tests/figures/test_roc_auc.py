"""The figures in the texts of roc_auc, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score  # type: ignore[import-untyped]
from torch import Tensor

from graders.catalogue import katas
from graders.faults import ROOT
from graders.kata.spec import Draw
from tests.figures import said

KATA = "roc_auc"
EXAMPLE = [0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 0.2]


def test_example_by_hand() -> None:
    pairs = [(high > low) + (high == low) / 2 for high in (0.4, 0.8, 0.2) for low in (0.1, 0.4)]
    assert (pairs.count(1), pairs.count(0.5), len(pairs)) == (4, 1, 6)
    assert roc_auc_score(*EXAMPLE) == (4 + 1 / 2) / 6 == 1 / 4 + 1 / 2 == 0.75
    assert said(KATA, "4 of 6 pairs", "the AUC is (4 + ½)/6 = 0.75", "½ · ½ = ¼")


def test_accuracy_that_is_asked_for() -> None:
    (kata,) = katas.find([KATA], ROOT)
    area = kata.grader.answers[1]
    assert {(each.relative, each.scaled, each.absolute) for each in area.tolerance.values()} == {(0, 0, 1e-10)}
    (many,) = (case for case in area.cases if case.name == "area_of_many")
    assert many.inputs
    arguments = many.inputs(Draw("seed"))
    assert isinstance(arguments, dict)
    assert len(arguments["y_true"]) == pytest.approx(150_000, rel=1e-3)
    assert said(KATA, "right to 1e-10 whatever the dtype of `y_score` and for 150 000 samples, too")


def test_precisions_of_the_example() -> None:
    precision, _, thresholds = precision_recall_curve(*EXAMPLE)
    assert thresholds[::-1].tolist() == [0.8, 0.4, 0.2, 0.1]
    assert precision[:-1][::-1].tolist() == pytest.approx([1, 2 / 3, 3 / 4, 3 / 5])
    assert said(KATA, "it is 1, 2/3, 3/4 and 3/5 at the thresholds 0.8, 0.4, 0.2 and 0.1")


def test_high_area_with_low_precision() -> None:
    fpr, tpr = torch.tensor([0, 0.1, 0.5, 1.0]).double(), torch.tensor([0, 0.8, 1, 1.0]).double()
    assert torch.trapezoid(tpr, fpr) == pytest.approx(0.9)
    assert (0.8 * 10, round(0.1 * 990)) == (8, 99)
    assert f"{8 / 107:.3f}" == "0.075"
    area = torch.zeros((), dtype=torch.float64)
    for piece in range(3):
        x, y = (torch.linspace(rate[piece], rate[piece + 1], 10_001).double() for rate in (fpr, tpr))
        precision = 10 * y / (10 * y + 990 * x).clamp_min(1e-12)
        area += torch.trapezoid(precision[1:], y[1:])
    assert f"{area:.3f}" == "0.067"
    assert said(KATA, "an area of 0.90", "together with 99 of 990 negatives: the precision is 8/107 = 0.075")
    assert said(KATA, "The average precision of this curve is 0.067")


def random_ranking(samples: int) -> tuple[Tensor, Tensor]:
    y_score = torch.rand(samples, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return torch.arange(samples) % 100 == 0, y_score


def test_chance_levels() -> None:
    y_true, y_score = random_ranking(100_000)
    assert roc_auc_score(y_true.tolist(), y_score.tolist()) == pytest.approx(0.5, abs=0.02)
    assert average_precision_score(y_true.tolist(), y_score.tolist()) == pytest.approx(0.01, abs=0.002)
    assert said(KATA, "A random score has an AUC of ½", "0.01 where 1 % are positive")


def test_global_area_of_a_score_that_knows_only_the_user() -> None:
    clicks = [1] * 9 + [0] + [1] + [0] * 9
    assert roc_auc_score(clicks, [0.9] * 10 + [0.1] * 10) == pytest.approx(0.9)
    assert roc_auc_score(clicks[:10], [0.9] * 10) == roc_auc_score(clicks[10:], [0.1] * 10) == 0.5
    assert said(KATA, "the global AUC is 0.90, and that of each user 0.5")


def test_error_of_histograms_is_bounded() -> None:
    generator = torch.Generator().manual_seed(0)
    negatives = torch.randn(20_000, generator=generator).double()
    positives = torch.randn(300, generator=generator).double() + 1
    edges = negatives.sort().values[20::20].contiguous()
    binned = [torch.bucketize(each, edges, right=True) for each in (positives, negatives)]
    shares = [torch.bincount(each, minlength=1000) / len(each) for each in binned]
    bound = (shares[0] * shares[1]).sum() / 2
    assert bound == pytest.approx(0.0005)
    y_true = [1] * 300 + [0] * 20_000
    exact, coarse = (roc_auc_score(y_true, torch.cat(list(each)).tolist()) for each in ((positives, negatives), binned))
    assert 0 < abs(exact - coarse) <= bound
    assert said(KATA, "If each of 1 000 bins has the same number of negatives, it is 0.0005")


def test_variance_by_delong() -> None:
    generator = torch.Generator().manual_seed(0)
    positives = torch.randn(2000, 30, 1, generator=generator) + 1
    beats = (positives > torch.randn(2000, 1, 60, generator=generator)).double()
    areas, variances = beats.mean((1, 2)), beats.mean(2).var(1) / 30 + beats.mean(1).var(1) / 60
    assert variances.mean() == pytest.approx(float(areas.var()), rel=0.1)
    assert said(KATA, "S⁺/n₊ + S⁻/n₋")


def test_partial_area_of_chance() -> None:
    fpr = torch.linspace(0, 0.1, 11, dtype=torch.float64)
    assert torch.trapezoid(fpr, fpr) == pytest.approx(0.005)
    assert said(KATA, "up to an FPR of 0.1. Its maximum is then 0.1 and chance gives 0.005")


def test_mann_whitney() -> None:
    ranks, positives, negatives = [3.5, 5, 2], 3, 2
    assert (sum(ranks) - positives * (positives + 1) / 2) / (positives * negatives) == roc_auc_score(*EXAMPLE)
    assert said(KATA, "U = R⁺ − n₊(n₊ + 1)/2")


def test_false_alarms_for_each_of_rare_positives() -> None:
    assert round(9_999 * 0.01) == 100
    assert said(KATA, "At one positive in 10 000, an FPR of 1 % looks good, yet there are 100 false alarms")


def test_negated_scores() -> None:
    y_true, y_score = [1, 1, 0, 0, 0, 0, 0], [3.5, 0, 1, 2, 3, 4, 5]
    assert roc_auc_score(y_true, y_score) == pytest.approx(0.3)
    assert roc_auc_score(y_true, [-score for score in y_score]) == pytest.approx(0.7)
    assert said(KATA, "−s has 0.7")


def test_cost_of_pairs_and_of_sorting() -> None:
    assert 500_000**2 == 2.5e11
    assert f"{1e6 * math.log2(1e6):.0e}" == "2e+07"
    assert said(KATA, "2.5 · 10¹¹ pairs: 250 GB as single bytes", "N log₂ N = 2 · 10⁷")


def test_counts_that_do_not_fit() -> None:
    assert 46_340**2 <= torch.iinfo(torch.int32).max < 46_341**2
    assert torch.iinfo(torch.int32).max == 2**31 - 1
    assert torch.tensor(2048.0).half() + 1 == 2048
    assert torch.finfo(torch.float16).max == 65_504
    assert torch.finfo(torch.float32).eps / 2 == pytest.approx(6e-8, rel=0.01)
    assert said(
        KATA, "32-bit integers from 46 341 samples of each class on", "in 32-bit integers, which end at 2³¹ − 1"
    )
    assert said(KATA, "not exact above 2 048 and end at 65 504", "are off in the eighth digit")

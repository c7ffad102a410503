"""The figures in the texts of f1_score, calculated again."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support  # type: ignore[import-untyped]
from torch.utils.data import DistributedSampler, TensorDataset

from graders.catalogue import katas
from graders.faults import ROOT
from tests.figures import said

KATA = "f1_score"


def f_beta(precision: float, recall: float, beta: float = 1) -> float:
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def wilson(hits: int, samples: int) -> str:
    """The 95 % interval of a share."""
    share, z = hits / samples, 1.959964
    middle = share + z**2 / (2 * samples)
    half = z * math.sqrt(share * (1 - share) / samples + z**2 / (4 * samples**2))
    low, high = ((middle + sign * half) / (1 + z**2 / samples) for sign in (-1, 1))
    return f"from {low:.2f} to {high:.2f}"


def test_example_by_hand() -> None:
    y_true, y_pred = [0, 0, 0, 0, 1, 1, 2], [0, 0, 1, 2, 1, 1, 1]
    precision, recall, f1, _ = precision_recall_fscore_support(y_true, y_pred, zero_division=0)
    assert (precision.tolist(), recall.tolist()) == ([1, 0.5, 0], [0.5, 1, 0])
    assert f1.tolist() == pytest.approx([2 / 3, 2 / 3, 0])
    assert f1.mean() == pytest.approx(4 / 9)
    assert precision.mean() == recall.mean() == 0.5
    assert f1_score(y_true, y_pred, average="micro") == pytest.approx(4 / 7)
    assert said(
        KATA, "The macro F1 is (2/3 + 2/3 + 0)/3 = 4/9", "are both 1/2", "4 of 7 samples are right, so F1 = 4/7"
    )
    assert said(KATA, "with precisions 1, ½, 0 and recalls ½, 1, 0 the first is 4/9, the second ½")


def test_means_of_a_classifier_that_calls_everything_positive() -> None:
    assert f"{(1 + 0.01) / 2:.3f} {f_beta(0.01, 1):.4f}" == "0.505 0.0198"
    assert said(KATA, "praises that with 0.505, F1 says 0.0198")


def test_averages_of_several_labels() -> None:
    y_true, y_pred = [[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]]
    assert f1_score(y_true, y_pred, average="micro") == pytest.approx(4 / 5)
    assert f"{f1_score(y_true, y_pred, average='samples'):.2f}" == f"{(2 / 3 + 1) / 2:.2f}" == "0.83"
    assert accuracy_score(y_true, y_pred) == 1 / 2
    assert said(KATA, "micro F1 is 4/5, sample F1 is (2/3 + 1)/2 = 0.83", "right in full is 1/2")


def test_rarer_positives() -> None:
    found = []
    for share in (0.5, 0.01):
        precision = share * 0.9 / (share * 0.9 + (1 - share) * 0.05)
        found += [f"{precision:.2f}", f"{f_beta(precision, 0.9):.2f}"]
    assert found == ["0.95", "0.92", "0.15", "0.26"]
    assert said(
        KATA, "a recall of 0.9 and an FPR of 0.05 it is 0.95 at π = ½, and 0.15 at π = 1 %", "from 0.92 to 0.26"
    )


def test_intervals_of_shares() -> None:
    assert said(KATA, f"10 right of 20 is 0.5, but the 95 % Wilson interval runs {wilson(10, 20)}")
    assert said(KATA, f"a recall of 16/20 has a 95 % Wilson interval {wilson(16, 20)}")


def test_best_threshold_is_half_of_the_best_f1() -> None:
    threshold = torch.linspace(0, 0.999, 100_000, dtype=torch.float64)
    hit, predicted, actual = (1 - threshold**2) / 2, 1 - threshold, 1 / 2  # probabilities spread evenly over [0, 1]
    best, where = (2 * hit / (predicted + actual)).max(0)
    assert f"{best:.3f} {threshold[where]:.3f}" == "0.764 0.382"
    assert best / 2 == pytest.approx(float(threshold[where]), abs=1e-4)
    assert said(KATA, "the best F1 is 0.764, at a threshold of 0.382")


def test_samples_that_are_repeated_for_equal_shards() -> None:
    samples = TensorDataset(torch.arange(1003))
    shards: list[list[int]] = [list(DistributedSampler(samples, num_replicas=8, rank=rank)) for rank in range(8)]
    assert [len(shard) for shard in shards] == [126] * 8
    assert 8 * 126 - len({index for shard in shards for index in shard}) == 5
    assert said(KATA, "of 1 003 samples `DistributedSampler` makes 8 × 126, so 5 of them count twice")


@pytest.mark.parametrize("samples", [100, 10_000])
def test_share_of_resamples_without_a_certain_sample(samples: int) -> None:
    assert f"{100 * (1 - 1 / samples) ** samples:.0f}" == "37"
    assert said(KATA, "missing from 37 % of the resamples")


def test_f1_of_half_a_name() -> None:
    assert f1_score([1, 1, 1, 0], [1, 1, 0, 0]) == pytest.approx(2 * 2 / (2 + 3)) == 0.8
    assert said(KATA, "a token F1 of 2·2/(2 + 3) = 0.8 and a span F1 of 0")


def test_f_beta_is_the_weighted_harmonic_mean() -> None:
    for beta in (0.5, 2):
        harmonic = 1 / ((1 / 0.3 + beta**2 / 0.8) / (1 + beta**2))
        assert f_beta(0.3, 0.8, beta) == pytest.approx(harmonic)
    assert said(KATA, "(1 + β²) P R / (β² P + R)")


def test_memory_of_one_hot_matrices() -> None:
    assert 1_000_000 * 1_000 * torch.int64.itemsize == 8e9
    assert said(KATA, "8 GB each in int64 for a million samples and 1 000 classes")


def test_counts_beyond_a_dtype() -> None:
    assert [torch.iinfo(dtype).max for dtype in (torch.int8, torch.uint8)] == [127, 255]
    half = torch.arange(2050, dtype=torch.float64).half().double()
    assert int((half != torch.arange(2050)).nonzero()[0]) == 2049
    assert torch.tensor(2.0**24) + 1 == 2.0**24 == 16_777_216
    assert torch.tensor(2.0**24 - 1) + 1 == 2.0**24
    assert (torch.tensor(127, dtype=torch.int8) + 1).item() == -128
    assert said(KATA, "end at 127 or 255", "no odd numbers above 2 048", "2²⁴ = 16 777 216", "in int8, 127 + 1 is −128")


def test_small_rates_that_the_grader_asks_for() -> None:
    assert 1 / 420 < Fraction(3, 1204) < 1 / 390
    assert said(KATA, "rates as small as 1/400", "looks at rates of 1/400")


def test_accuracy_that_is_asked_for() -> None:
    (kata,) = katas.find([KATA], ROOT)
    assert kata.grader.answers[0].tolerance[torch.float32].relative == 2e-6
    assert said(KATA, "right to 2 parts in a million")

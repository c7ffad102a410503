"""The figures in the texts of confusion_matrix, calculated again."""

from __future__ import annotations

import math

import pytest
import torch
from sklearn.metrics import (  # type: ignore[import-untyped]
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "confusion_matrix"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "confusion_matrix_of_the_figures").confusion_matrix


def samples(matrix: list[list[int]]) -> tuple[list[int], list[int]]:
    """Labels and predictions that have this matrix."""
    cells = torch.arange(len(matrix) ** 2).repeat_interleave(torch.tensor(matrix).flatten())
    assert REFERENCE(cells // len(matrix), cells % len(matrix), len(matrix)).tolist() == matrix
    return (cells // len(matrix)).tolist(), (cells % len(matrix)).tolist()


def test_example_by_hand() -> None:
    matrix = REFERENCE(torch.tensor([0, 0, 1, 1, 1, 2, 2]), torch.tensor([0, 1, 1, 1, 2, 0, 2]), 4)
    assert matrix.tolist() == [[1, 1, 0, 0], [0, 2, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
    assert (matrix.trace(), matrix.sum()) == (1 + 2 + 1, 7)
    assert said(KATA, "1 + 2 + 1 = 4 of 7 samples are predicted correctly")


def test_rates_of_a_matrix() -> None:
    pair = samples([[50, 10], [5, 35]])
    assert accuracy_score(*pair) == (50 + 35) / 100 == 0.85
    assert recall_score(*pair) == 35 / 40 == 0.875
    assert f"{precision_score(*pair):.2f} {35 / 45:.2f}" == "0.78 0.78"
    assert f"{f1_score(*pair):.2f} {70 / 85:.2f}" == "0.82 0.82"
    assert said(KATA, "the accuracy is 0.85", "recall 35/40 = 0.875, precision 35/45 = 0.78 and F1 70/85 = 0.82")
    ious = jaccard_score(*pair, average=None).tolist()
    assert ious == pytest.approx([50 / 65, 35 / 50])
    assert [f"{iou:.2f}" for iou in [*ious, sum(ious) / 2]] == ["0.77", "0.70", "0.73"]
    assert said(KATA, "it is 50/65 = 0.77 and 35/50 = 0.70, and their mean 0.73")


def test_shares_of_rows() -> None:
    assert (90 / 1000, 8 / 10) == (0.09, 0.8)
    assert said(KATA, "a row share of 0.09, but 8 of 10 of a rare one, 0.8")


def test_dtypes_that_cells_do_not_fit() -> None:
    for dtype, classes in ((torch.int8, 12), (torch.uint8, 17), (torch.int16, 182)):
        assert (classes - 1) ** 2 - 1 <= torch.iinfo(dtype).max < classes**2 - 1
    assert said(KATA, "int8 breaks from 12 classes on, uint8 from 17 and int16 from 182")
    labels = torch.tensor([0, 5, 255], dtype=torch.uint8)
    assert (labels >= 256).all()
    assert not (labels.long() >= 256).any()
    assert [torch.iinfo(dtype).max for dtype in (torch.int8, torch.uint8)] == [127, 255]
    assert said(KATA, "torch wraps 256 to 0 in uint8, so `labels >= 256` is true for every label", "127 or 255")


def test_cell_that_wraps() -> None:
    last = torch.tensor(16, dtype=torch.uint8)
    assert (16 * 17 + 16, int(last * 17 + last)) == (288, 32)
    assert divmod(32, 17) == (1, 15)
    assert said(KATA, "16 · 17 + 16 = 288 wraps to 32, which is the cell (1, 15)")


def test_labels_out_of_range_lie_in_other_rows() -> None:
    C = 7
    assert 1 * C + -1 == 0 * C + (C - 1)
    assert 0 * C + C == 1 * C + 0
    assert said(KATA, "−1 as a prediction in row 1 is the cell C − 1", "C in row 0 is the first one of row 1")


def test_sizes_of_the_matrix() -> None:
    assert [8 * C**2 for C in (1000, 50_000)] == [8e6, 20e9]
    assert 50_000**2 == 2.5e9
    assert said(KATA, "8 MB for 1 000 classes, 20 GB for 50 000", "at most a million of the 2.5 billion cells")


def test_cost_of_one_hot_rows() -> None:
    N, C = 1_000_000, 1000
    assert (8 * N * C, 2 * N * C**2) == (8e9, 2e12)
    assert said(
        KATA, "8 GB each in int64 for a million samples and 1 000 classes, and 2 N C² operations, which is 2e12"
    )
    for dtype, count in ((torch.float32, 2**24), (torch.bfloat16, 256)):
        assert torch.tensor(count, dtype=dtype) + 1 == count
        assert torch.tensor(count - 1, dtype=dtype) + 1 == count
        assert torch.tensor(count - 1, dtype=dtype).item() == count - 1
    assert said(KATA, "up to 2²⁴ = 16 777 216 only, in bfloat16 up to 256")


def test_classifier_that_always_says_class_0() -> None:
    pair = samples([[90, 0], [10, 0]])
    assert accuracy_score(*pair) == 0.9
    assert (cohen_kappa_score(*pair), matthews_corrcoef(*pair)) == (0, 0)
    assert (90 * 100 + 10 * 0) / 100**2 == 0.9
    assert balanced_accuracy_score(*pair) == 0.5
    assert said(
        KATA, "always says class 0: accuracy 0.9", "κ is 0, the correlation 0/0", "the balanced accuracy, is 0.5"
    )


def test_unreadable_answers() -> None:
    assert f"{80 / (80 + 10 + 10):.2f} {80 / 90:.2f}" == "0.80 0.89"
    assert said(KATA, "80 right, 10 wrong and 10 unreadable is 0.80, not 80/90 = 0.89")


def test_mcnemar() -> None:
    tail = sum(math.comb(35, k) for k in range(11)) / 2**35
    assert f"{2 * tail:.3f}" == "0.017"
    assert abs(20 - 28) < 2 * math.sqrt(20 + 28)
    assert said(KATA, "b = 10 and c = 25, an exact McNemar test gives p = 0.017", "so 20 against 28 means little")

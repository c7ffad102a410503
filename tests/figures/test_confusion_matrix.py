"""The figures in the texts of confusion_matrix, calculated again."""

from __future__ import annotations

import math

import torch
from sklearn.metrics import (  # type: ignore[import-untyped]
    cohen_kappa_score,
    matthews_corrcoef,
)

from tests.figures import reference_of, said

KATA = "confusion_matrix"
REFERENCE = reference_of(KATA).confusion_matrix


def test_uint8_labels_are_all_at_least_256() -> None:
    assert (torch.tensor([0, 5, 255], dtype=torch.uint8) >= 256).all()
    assert said(KATA, "so `labels >= 256` is true for every label")


def test_classifier_that_always_says_class_0() -> None:
    assert cohen_kappa_score([0] * 9 + [1], [0] * 10) == matthews_corrcoef([0] * 9 + [1], [0] * 10) == 0
    assert (90 * 100 + 10 * 0) / 100**2 == 0.9  # the agreement by chance
    assert said(KATA, "κ is 0, the correlation 0/0")


def test_a_difference_of_two_standard_deviations() -> None:
    assert abs(20 - 28) < 2 * math.sqrt(20 + 28) < abs(10 - 25) + 1
    assert said(KATA, "so 20 against 28 means little")


def test_labels_out_of_range_lie_in_other_rows() -> None:
    assert 1 * 7 + -1 == 0 * 7 + (7 - 1)
    assert 0 * 7 + 7 == 1 * 7 + 0
    assert said(KATA, "−1 as a prediction in row 1 is the cell C − 1", "C in row 0 is the first one of row 1")

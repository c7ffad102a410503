"""What the references promise beyond what is asked of learners."""

from __future__ import annotations

import math
from types import ModuleType

import torch

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT


def reference(name: str) -> ModuleType:
    (kata,) = katas.find([name], ROOT)
    return load_module(kata.reference_file, f"reference_of_{name}")


def test_cross_entropy_adds_up_more_classes_than_float16_can_count() -> None:
    logits = torch.zeros(1, 70_000, dtype=torch.float16)
    loss = reference("cross_entropy").cross_entropy(logits, torch.tensor([3]))
    assert loss.dtype == torch.float16
    assert abs(loss.item() - math.log(70_000)) < 0.01


def test_losses_have_the_dtype_of_the_logits_whatever_that_of_the_weights() -> None:
    cross_entropy = reference("cross_entropy").cross_entropy
    with_logits = reference("binary_cross_entropy").binary_cross_entropy_with_logits
    for dtype, other in ((torch.float16, torch.float32), (torch.float32, torch.float64)):
        logits, weight = torch.ones(2, 3, dtype=dtype), torch.ones(3, dtype=other)
        assert cross_entropy(logits, torch.tensor([0, 2]), weight=weight).dtype == dtype
        assert with_logits(logits, torch.ones(2, 3), pos_weight=weight).dtype == dtype


def test_recall_of_many_samples_is_rounded_once() -> None:
    """16,777,217 is no float32: the quotient of both counts as float32 is 0.5."""
    y_true = torch.ones(33_554_431, dtype=torch.uint8)
    y_pred = (torch.arange(33_554_431) < 16_777_217).to(torch.uint8)
    _, recall, _ = reference("f1_score").precision_recall_f1(y_true, y_pred)
    assert recall.item() == torch.tensor(16_777_217 / 33_554_431).item() != 0.5

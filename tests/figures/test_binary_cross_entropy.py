"""The figures of binary_cross_entropy's texts, calculated again."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import reference_of, said
from tests.figures.asked import inputs_of

KATA = "binary_cross_entropy"


def test_focal_loss_is_not_least_at_the_true_probability() -> None:
    x = torch.tensor(0.8, dtype=torch.float64).logit().requires_grad_()
    positive, negative = (-((1 - p) ** 2) * p.log() for p in (x.sigmoid(), (-x).sigmoid()))
    assert abs(torch.autograd.grad(0.8 * positive + 0.2 * negative, x)[0]) > 0.01
    assert said(KATA, "the focal loss does not have its minimum at the true probability")


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        (reference_of(KATA).binary_cross_entropy_with_logits, 5),
        (F.binary_cross_entropy_with_logits, 2),
        (lambda x, y: (F.softplus(x) - x * y).mean(), 2),
        (lambda x, y: (x.clamp(min=0) - x * y + torch.log1p(torch.exp(-x.abs()))).mean(), 3),
        (lambda x, y: -(y * F.logsigmoid(x) + (1 - y) * F.logsigmoid(-x)).mean(), 6),
    ],
)
def test_tensors_that_autograd_keeps(loss: Callable[[Tensor, Tensor], Tensor], count: int) -> None:
    x, y = torch.randn(1000, requires_grad=True), torch.rand(1000)
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):  # type: ignore[func-returns-value]
        loss(x, y)
    assert len({one.untyped_storage().data_ptr() for one in kept if one.numel() == x.numel()}) == count
    assert said(
        KATA,
        "about two to six tensors as large as the input, depending on the formula",
        "keeps only the logits and the targets",
    )


def test_extremes_are_those_that_are_asked() -> None:
    inputs = inputs_of(KATA)
    assert 1e-300 <= inputs["probs_below_the_clamp"][0]["probs"].min() < math.exp(-100)
    assert 1e-30 < inputs["tiny_probs"][0]["probs"].min() < 1e-24
    assert 1e-6 < inputs["confident_probs"][0]["probs"].min() < 1e-4
    assert said(KATA, "as small as 1e-30 (in float64 1e-300), and as large as 1 − 1e-6")

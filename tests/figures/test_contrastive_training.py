"""The figures that contrastive_training's texts state."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.figures import said

KATA = "contrastive_training"
VIEWS = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[3.0, 4.0], [-2.0, 0.0]]], dtype=torch.float64)


def info_nce(features: Tensor, temperature: float = 1.0) -> Tensor:
    unit = F.normalize(features, dim=1)
    itself = torch.eye(len(unit), dtype=torch.bool)
    logits = (unit @ unit.mT / temperature).masked_fill(itself, -torch.inf)
    return F.cross_entropy(logits, torch.arange(len(unit)).roll(len(unit) // 2))


def test_example_by_hand() -> None:
    w = torch.eye(2, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(info_nce(VIEWS.flatten(0, 1) @ w.mT), w)
    assert [f"{one:.4f}" for one in [*slope.flatten(), slope.norm()]] == [
        "-0.2108",
        "0.3184",
        "0.3184",
        "0.2108",
        "0.5401",
    ]
    losses = [
        info_nce(VIEWS.flatten(0, 1) @ torch.tensor(w).double()) for w in ([[1, 0], [0, 1]], [[1.1, -0.1], [-0.1, 0.9]])
    ]
    assert [f"{loss:.4f}" for loss in losses] == ["0.8943", "0.7822"]
    assert said(KATA, "−0.2108 and 0.3184 in the first row, 0.3184 and 0.2108 in the second", "length of 0.5401")
    assert said(KATA, "W becomes (1.1, −0.1), (−0.1, 0.9). In epoch 1 the loss is 0.7822")


def test_losses_at_both_ends() -> None:
    x = torch.linalg.qr(torch.arange(16.0).reshape(4, 4).sin()).Q
    assert info_nce(torch.ones(128, 3)).item() == pytest.approx(math.log(127))
    assert info_nce(x.repeat(2, 1), 0.05) < 1e-4
    assert info_nce(x.repeat_interleave(2, 0), 0.05) > 10
    assert said(KATA, "At a small temperature the loss must then be near 0. With a wrong layout it is not")

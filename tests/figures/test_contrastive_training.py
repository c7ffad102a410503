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
    for matrix, loss, gradient in (
        ([[1.0, 0.0], [0.0, 1.0]], "0.8943", ["-0.2108", "0.3184", "0.3184", "0.2108"]),
        ([[1.1, -0.1], [-0.1, 0.9]], "0.7822", None),
    ):
        w = torch.tensor(matrix, dtype=torch.float64, requires_grad=True)
        got = info_nce(VIEWS.flatten(0, 1) @ w.mT)
        (found,) = torch.autograd.grad(got, w)
        assert f"{got.item():.4f}" == loss
        if gradient:
            assert [f"{one:.4f}" for one in found.flatten().tolist()] == gradient
            assert f"{found.norm().item():.4f}" == "0.5401"
    assert 0.1 * (1 + math.cos(math.pi / 2)) / 2 == pytest.approx(0.05)
    assert said(KATA, "−0.2108 and 0.3184 in the first row, 0.3184 and 0.2108 in the second", "length of 0.5401")
    assert said(KATA, "W becomes (1.1, −0.1), (−0.1, 0.9). In epoch 1 the loss is 0.7822", "(1 + cos(π/2)) / 2 = 0.05")


def test_losses_at_both_ends() -> None:
    assert f"{math.log(2 * 64 - 1):.2f}" == "4.84"
    assert info_nce(torch.ones(128, 3)).item() == pytest.approx(math.log(127))
    x = torch.linalg.qr(torch.arange(16.0).reshape(4, 4).sin()).Q
    assert info_nce(x.repeat(2, 1), 0.05).item() == pytest.approx(0, abs=1e-4)
    assert info_nce(x.repeat_interleave(2, 0), 0.05).item() > 10
    assert said(
        KATA, "4.84 for N = 64", "at a small temperature the loss must be near 0. With a wrong layout it is not"
    )


def test_clipping() -> None:
    assert math.hypot(3, 4) == 5
    assert f"{math.hypot(1, 1):.2f}" == "1.41"
    assert round(1 / (1 - 0.999)) == 1000
    assert said(KATA, "Together the norm is 5", "the norm of both is 1.41", "1 / (1 − β₂) = 1 000 steps")


def test_schedule_once_a_batch() -> None:
    assert (1 + math.cos(math.pi * 200 / 100)) / 2 == 1
    assert 100 * 50 / (2 * 100) == 25
    assert said(KATA, "with 100 epochs of 50 batches, it swings up and down 25 times")


def test_micro_batches() -> None:
    assert (2 * 32 - 2, 2 * 8 * 32 - 2) == (62, 510)
    assert said(KATA, "8 micro-batches of 32 give 62 negatives for each row and not 510")

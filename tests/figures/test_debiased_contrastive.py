"""The figures of debiased_contrastive's texts, calculated again."""

from __future__ import annotations

import math

import pytest
import torch

from tests.figures import reference_of, said

KATA = "debiased_contrastive"
debiased_info_nce = reference_of(KATA).debiased_info_nce


def test_gradients_of_a_row_add_up_to_0_above_the_floor() -> None:
    p, n = torch.tensor(0.3, requires_grad=True), torch.linspace(-0.2, 0.6, 510).requires_grad_()
    g = ((n / 0.5).exp().mean() - 0.1 * (p / 0.5).exp()) / 0.9
    pull, push = torch.autograd.grad(((p / 0.5).exp() + 510 * g).log() - p / 0.5, (p, n))
    assert g > math.exp(-2)
    assert pull < -1 / 0.5
    assert pull + push.sum() == pytest.approx(0, abs=1e-5)


def test_equal_rows() -> None:
    losses = [debiased_info_nce(torch.ones(512, 3), 0.5, share) for share in (0.0, 0.1, 0.9)]
    assert [f"{loss:.2f}" for loss in losses] == [f"{math.log(2 * 256 - 1):.2f}"] * 3
    assert said(KATA, "log(2N − 1)")

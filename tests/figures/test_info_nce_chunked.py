"""The figures of info_nce_chunked's texts, calculated again."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.figures import normal, said

KATA = "info_nce_chunked"


def test_running_log_sum_exp() -> None:
    row = torch.linspace(-5, 9, 12, dtype=torch.float64).roll(5)
    top, total = row[:4].amax(), (row[:4] - row[:4].amax()).exp().sum()
    for tile in (row[4:8], row[8:]):
        new = torch.maximum(top, tile.amax())
        top, total = new, total * (top - new).exp() + (tile - new).exp().sum()
    torch.testing.assert_close(top + total.log(), row.logsumexp(0))
    assert said(KATA, "t becomes t·exp(m − M) + Σ exp(x − M)", "log-sum-exp is M + log t")


def test_gradient_of_a_chunk() -> None:
    unit = normal(6, 3).requires_grad_()
    logits = (unit @ unit.mT / 0.3).fill_diagonal_(-torch.inf)
    loss = F.cross_entropy(logits[2:4], torch.tensor([5, 0]), reduction="sum") / 6
    (gradient,) = torch.autograd.grad(loss, unit)
    off = (logits[2:4].softmax(1) - torch.eye(6)[[5, 0]]) / (6 * 0.3)
    expected = off.mT @ unit[2:4]
    expected[2:4] += off @ unit
    torch.testing.assert_close(gradient, expected)
    assert said(KATA, "A = (P − Y) / (2N·τ)", "get A U, and all 2N rows get Aᵀ U_chunk")

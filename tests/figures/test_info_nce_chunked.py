"""The figures of info_nce_chunked's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.figures import said

KATA = "info_nce_chunked"


def test_example_by_hand() -> None:
    unit = F.normalize(torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [-2.0, 0.0]]).double(), dim=1)
    logits = (unit @ unit.mT).fill_diagonal_(-torch.inf)
    rows = F.cross_entropy(logits, torch.arange(4).roll(2), reduction="none")
    assert [f"{row:.4f}" for row in rows] == ["0.5600", "1.4411", "0.9253", "0.6506"]
    assert f"{rows.sum():.4f} {rows.mean():.4f} {(rows[:3].mean() + rows[3]) / 2:.4f}" == "3.5771 0.8943 0.8130"
    assert said(KATA, "losses are 0.5600, 1.4411 and 0.9253", "the anchor 3 alone, whose loss is 0.6506")
    assert said(KATA, "add up to 3.5771, and L is a quarter of that, 0.8943", "chunks' means would be 0.8130")


def test_bytes_of_tables() -> None:
    rows = 65_536
    assert f"{4 * rows**2 / 1e9:.0f} {rows**2 / 1e9:.1f} {4 * 256 * rows / 1e6:.0f}" == "17 4.3 67"
    assert said(KATA, "with 65 536 rows one such table takes 17 GB", "4.3 GB for 65 536 rows")
    assert said(KATA, "(256, 65 536) in float32 takes 67 MB")


def test_state_of_the_generator() -> None:
    size = torch.get_rng_state().numel()
    assert (size, round(128 * size / 1e3)) == (5056, 647)
    assert said(KATA, "5 056 bytes on the CPU", "647 kB for 128 chunks")


def test_sum_beyond_float16() -> None:
    loss = math.log(65_535)
    assert f"{loss:.1f}" == "11.1"
    assert round(65_536 * loss / 1e3) == 727 > torch.finfo(torch.float16).max / 1e3
    assert said(KATA, "log(2N − 1) = 11.1 each, the sum is about 727 000, beyond the 65 504")


def test_running_log_sum_exp() -> None:
    row = torch.linspace(-5, 9, 12, dtype=torch.float64).roll(5)
    top, total = row[:4].amax(), (row[:4] - row[:4].amax()).exp().sum()
    for tile in (row[4:8], row[8:]):
        new = torch.maximum(top, tile.amax())
        top, total = new, total * (top - new).exp() + (tile - new).exp().sum()
    torch.testing.assert_close(top + total.log(), row.logsumexp(0))
    assert said(KATA, "t becomes t·exp(m − M) + Σ exp(x − M)", "In the end it is M + log t")


def test_gradient_of_a_chunk() -> None:
    unit = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    logits = (unit @ unit.mT / 0.3).fill_diagonal_(-torch.inf)
    loss = F.cross_entropy(logits[2:4], torch.tensor([5, 0]), reduction="sum") / 6
    (gradient,) = torch.autograd.grad(loss, unit)
    off = (logits[2:4].softmax(1) - torch.eye(6)[[5, 0]]) / (6 * 0.3)
    expected = off.mT @ unit[2:4]
    expected[2:4] += off @ unit
    torch.testing.assert_close(gradient, expected)
    assert said(KATA, "A = (P − Y) / (2N·τ)", "get A U, and all 2N rows get Aᵀ U_chunk")

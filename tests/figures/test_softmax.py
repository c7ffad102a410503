"""The figures that softmax's texts state."""

from __future__ import annotations

import torch

KATA = "softmax"
ROW = torch.tensor([0.5, 2.5, 0.0], dtype=torch.float64)


def test_jacobian() -> None:
    p = torch.softmax(ROW, 0)
    torch.testing.assert_close(torch.func.jacrev(torch.softmax)(ROW, 0), p.diag() - torch.outer(p, p))


def test_one_step_far_from_0() -> None:
    x = torch.full((11,), -1e10)
    assert (x - (x.amax() + (x - x.amax()).exp().sum().log()) == 0).all()

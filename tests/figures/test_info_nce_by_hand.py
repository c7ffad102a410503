"""The figures of info_nce_by_hand's texts, calculated again."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.figures import normal, reference_of, said

KATA = "info_nce_by_hand"


def test_gradient_by_hand() -> None:
    x = normal(6, 4).requires_grad_()
    (gradient,) = torch.autograd.grad(reference_of(KATA).info_nce(x, 0.3), x)
    unit, norm = F.normalize(x, dim=1), x.norm(dim=1, keepdim=True)
    off = (unit @ unit.mT / 0.3).fill_diagonal_(-torch.inf).softmax(1) - torch.eye(6)[torch.arange(6) ^ 1]
    by_unit = (off + off.mT) @ unit / (6 * 0.3)
    torch.testing.assert_close(gradient, (by_unit - (by_unit * unit).sum(1, keepdim=True) * unit) / norm)
    assert said(KATA, "G = (P − Y + (P − Y)ᵀ) U / (2N·τ)", "(g − ⟨g, u⟩ u) / |x|")

"""The figures of clip_loss's texts, calculated again."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.figures import normal, said

KATA = "clip_loss"


def test_gradient_of_a_clamped_exponential() -> None:
    s = torch.tensor([88.72, 88.73, 1000.0], requires_grad=True)
    clamped, inverse, where = s.exp().clamp(max=100), (-s).exp().clamp(min=0.01), torch.where(s < 4, s.exp(), 100.0)
    slopes = [torch.autograd.grad(one.sum(), s)[0] for one in (clamped, inverse, where)]
    assert slopes[0][0] == 0 == slopes[1].abs().max()
    assert torch.cat([slopes[0][1:], slopes[2][1:]]).isnan().all()


def test_gradients_of_logits_and_scale() -> None:
    s, own = torch.tensor(1.5, dtype=torch.float64, requires_grad=True), torch.arange(5)
    z = s.exp() * normal(5, 5).tanh()
    loss = (F.cross_entropy(z, own) + F.cross_entropy(z.mT, own)) / 2
    of_s, of_z = torch.autograd.grad(loss, [s, z])
    ahead = (z.softmax(1) * z).sum(1) + (z.softmax(0) * z).sum(0) - 2 * z.diagonal()
    torch.testing.assert_close(of_s, ahead.mean() / 2)
    torch.testing.assert_close(of_z, (z.softmax(1) + z.softmax(0) - 2 * torch.eye(5)) / 10)
    assert said(KATA, "Σ_j p_ij z_ij − z_ii", "(p_ij − [i = j]) / 2N from each direction")
    assert math.log1p(32_767 * math.exp(-100)) < 1e-38

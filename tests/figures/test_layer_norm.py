"""The figures that layer_norm's texts state."""

from __future__ import annotations

import math

import torch

from tests.figures import normal, reference_of, said

KATA = "layer_norm"
layer_norm = reference_of(KATA).layer_norm


def test_gradient_of_x() -> None:
    x, g = normal(2, 3, 7)
    y = layer_norm(x.requires_grad_(), [7], eps=0.0)
    torch.testing.assert_close(y.norm(dim=1), torch.full((3,), math.sqrt(7), dtype=torch.float64))
    (gradient,) = torch.autograd.grad(y, x, g)
    across = g - g.mean(1, keepdim=True) - y * (g * y).mean(1, keepdim=True)
    torch.testing.assert_close(gradient, across / x.std(1, correction=0, keepdim=True))
    assert max(gradient.sum(1).abs().max(), (gradient * y).sum(1).abs().max()) < 1e-12
    assert said(KATA, "dL/dx = (g − mean(g) − x̂ · mean(g · x̂)) / √(σ² + ε)", "on a sphere of radius √n")
    assert layer_norm(torch.tensor([5.0, 2.0]), [2], eps=0.0).tolist() == [1, -1]

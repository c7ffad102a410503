"""The oracle of self_attention against torch's own attention."""

import pytest
import torch
import torch.nn.functional as F

from graders.catalogue import katas
from graders.kata.draw import Draw

MODULE = katas.find(["self_attention"])[0].module


@pytest.mark.parametrize(("B", "S", "D"), [(1, 1, 1), (2, 5, 8), (3, 7, 4)])
def test_oracle_agrees_with_torch(B: int, S: int, D: int) -> None:
    draw = Draw("self_attention", B, S, D)
    x, own = draw.normal(B, S, D), MODULE.own_parameters(draw, D)
    out, weights = MODULE.oracle(own, D, x)
    q, k, v = (F.linear(x, own[f"{name}.weight"], own[f"{name}.bias"]) for name in ("W_q", "W_k", "W_v"))
    torch.testing.assert_close(out, F.scaled_dot_product_attention(q, k, v))
    torch.testing.assert_close(weights, torch.softmax(q @ k.mT / D**0.5, dim=-1))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, S, dtype=torch.float64))

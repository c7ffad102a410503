"""The oracle of info_nce is a formula: held here against plain loops over numbers, and against cross-entropy."""

import math

import pytest
import torch
import torch.nn.functional as F

from graders.kata import two_views
from graders.kata.draw import Draw


def by_loops(features: list[list[float]], temperature: float) -> float:
    def cosine(x: list[float], y: list[float]) -> float:
        return sum(a * b for a, b in zip(x, y, strict=True)) / math.hypot(*x) / math.hypot(*y)

    rows = len(features)
    total = 0.0
    for i in range(rows):
        weights = [math.exp(cosine(features[i], features[k]) / temperature) for k in range(rows)]
        total -= math.log(weights[(i + rows // 2) % rows] / sum(weights[k] for k in range(rows) if k != i))
    return total / rows


@pytest.mark.parametrize(("N", "D", "temperature"), [(1, 3, 0.1), (2, 3, 0.1), (4, 5, 0.07), (7, 2, 1.0), (9, 16, 5.0)])
def test_the_oracle_is_the_definition(N: int, D: int, temperature: float) -> None:
    features = two_views.views(Draw("loops", N, D), N, D)
    got = two_views.info_nce(features, temperature)
    assert got.item() == pytest.approx(by_loops(features.tolist(), temperature), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("temperature", [1e-3, 0.1, 1.0])
def test_the_oracle_is_cross_entropy_over_the_other_rows(temperature: float) -> None:
    features = two_views.views(Draw("cross_entropy", temperature), 6, 4).requires_grad_()
    logits = F.cosine_similarity(features[:, None], features[None], dim=-1) / temperature
    logits = logits.masked_fill(torch.eye(12, dtype=torch.bool), -torch.inf)
    wanted = F.cross_entropy(logits, torch.arange(12).roll(6))
    got = two_views.info_nce(features, temperature)
    torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)
    ours, theirs = (torch.autograd.grad(loss, features)[0] for loss in (got, wanted))
    torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)


def test_equal_rows_give_the_log_of_their_number() -> None:
    assert two_views.info_nce(torch.ones(8, 3, dtype=torch.float64)).item() == pytest.approx(math.log(7))

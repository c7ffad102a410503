"""The figures that weight_penalty's texts state."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.figures import normal, reference_of, said

KATA = "weight_penalty"
REFERENCE = reference_of(KATA)


def test_half_the_size_turns_four_times_as_far() -> None:
    x, w, turned = normal(64, 8), normal(8), []
    for size in (1.0, 0.5):
        scaled = (size * w).requires_grad_()
        z = x @ scaled
        loss = ((z - z.mean()) / z.std() * x[:, 0]).mean()
        (gradient,) = torch.autograd.grad(loss, scaled)
        turned.append(gradient.norm() / scaled.norm())
    assert (turned[1] / turned[0]).item() == pytest.approx(4)
    assert said(
        KATA,
        "at half the norm the gradient is twice as large, and a step of SGD turns the weights about four times as far",
    )


def test_decay_is_what_sgd_does_and_twice_the_penalty() -> None:
    weights = [nn.Parameter(normal(4, 3)) for _ in range(3)]
    for w in weights:
        w.grad = w.detach().cos()
    torch.optim.SGD([weights[0]], lr=0.1, weight_decay=0.2).step()
    REFERENCE.add_weight_decay_([weights[1]], 0.2)
    REFERENCE.l2_penalty([weights[2]], 0.1).backward()
    torch.optim.SGD(weights[1:], lr=0.1).step()
    torch.testing.assert_close(weights[1:], weights[:1] * 2)
    assert said(
        KATA, "a decay with λ = 0.2 does what `l2_penalty` with 0.1 does", "The penalty's gradient is 2 · 0.01 · w"
    )


@pytest.mark.parametrize(
    ("optimizer", "decay", "expected"),
    [
        (torch.optim.SGD, 25.0, [2.25, -0.15]),  # although frozen
        (torch.optim.Adam, 0.1, [2.99, -0.19]),
        (torch.optim.Adam, 10.0, [2.99, -0.19]),
        (torch.optim.AdamW, 0.5, [3 * (1 - 0.01 * 0.5), -0.2 * (1 - 0.01 * 0.5)]),
    ],
)
def test_adam_turns_a_penalty_into_its_sign_and_adamw_shrinks(
    optimizer: type[torch.optim.SGD], decay: float, expected: list[float]
) -> None:
    w = nn.Parameter(torch.tensor([3.0, -0.2]), requires_grad=False)
    w.grad = torch.zeros(2)
    optimizer([w], lr=0.01, weight_decay=decay).step()
    assert w.tolist() == pytest.approx(expected)


def test_l1_subtracts_and_l2_divides() -> None:
    w = torch.linspace(-1, 1, 20_001, dtype=torch.float64)
    fit = 0.5 * (w - 0.3) ** 2
    assert w[(fit + 0.5 * w.abs()).argmin()] == pytest.approx(0, abs=1e-9)
    assert w[(fit + 0.5 * w**2).argmin()] == pytest.approx(0.15)


def test_ridge() -> None:
    x, y = normal(20, 3), normal(20)
    u, s, v = torch.linalg.svd(x, full_matrices=False)
    ridge = torch.linalg.solve(x.T @ x + torch.eye(3), x.T @ y)
    torch.testing.assert_close(ridge, v.T @ (s**2 / (s**2 + 1) * (u.T @ y / s)))

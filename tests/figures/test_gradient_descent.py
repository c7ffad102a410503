"""The figures that gradient_descent's texts state."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.figures import normal, reference_of, said

KATA = "gradient_descent"
REFERENCE = reference_of(KATA)


def leaf(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def test_best_rate_and_largest_rate_on_a_quadratic() -> None:
    curvatures = torch.tensor([1.0, 100.0], dtype=torch.float64)
    for rate, factor in ((2 / 101, 99 / 101), (2.001 / 100, 1.001), (1.999 / 100, 1 - 0.01999)):
        theta = torch.ones(2, dtype=torch.float64, requires_grad=True)
        REFERENCE.gradient_descent(lambda t: (curvatures * t * t).sum() / 2, [theta], rate, 50)
        assert theta.detach().abs().max().item() == pytest.approx(max(factor**50, abs(1 - 100 * rate) ** 50), rel=1e-6)
    assert said(KATA, "converges for η < 2 / λ_max", "The best η is 2 / (λ_min + λ_max)")


def test_curvature_of_the_mean_squared_error() -> None:
    x, y = normal(9, 3), normal(9)
    slope = torch.func.grad(lambda w: (x @ w - y).square().mean())
    hessian = torch.func.jacrev(slope)(torch.zeros(3).double())
    torch.testing.assert_close(hessian, 2 * x.mT @ x / 9)
    assert said(KATA, "2 XᵀX / N", "2/N · Xᵀ(residuals)")


def test_descent_from_zeros_ends_at_the_least_norm() -> None:
    x, y = normal(3, 8), normal(3)
    w, b = REFERENCE.linear_regression_gd(x, y, 0.05, 4000)
    design = torch.cat([x, torch.ones(3, 1).double()], 1)
    torch.testing.assert_close(torch.cat([w, b[None]]), torch.linalg.pinv(design) @ y)


def test_product_stays_at_its_saddle_point() -> None:
    a, b = leaf(0.0), leaf(0.0)
    assert REFERENCE.gradient_descent(lambda a, b: (a * b - 6) ** 2, [a, b], 0.05, 3) == [36.0, 36.0, 36.0]
    assert said(KATA, "2(ab − 6) · b and 2(ab − 6) · a, both 0 at a = b = 0")


def test_one_gradient_for_two_parameters() -> None:
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    first, second = torch.autograd.grad((a + b).square().sum(), [a, b])
    assert first.data_ptr() == second.data_ptr()
    assert said(KATA, "may return one tensor for two parameters, as for a + b")


def test_gradients_that_add_up_never_come_to_rest() -> None:
    cleared, added, slope, sizes = leaf(1.0), 1.0, 0.0, []
    REFERENCE.gradient_descent(lambda p: p * p / 2, [cleared], 0.1, 100)
    for _ in range(100):
        slope += added
        added -= 0.1 * slope
        sizes.append(abs(added))
    assert f"{cleared:.6f} {max(sizes[60:]):.1f}" == "0.000027 1.0"
    assert said(KATA, "without clearing, |θ| still reaches 1.0 between steps 60 and 100")


def test_three_ways_of_an_update_by_hand() -> None:
    p = leaf(3.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        p -= 1.0
    assert (p - 1.0).grad_fn is not None
    square = p * p
    p.data -= 1.0
    assert torch.autograd.grad(square, p, retain_graph=True)[0] == 4  # of the new value, not of the old one
    with torch.no_grad():
        p -= 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(square, p)


def test_parameter_without_a_part_in_the_loss() -> None:
    a, b = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.autograd.grad(a * a, [a, b])
    assert torch.autograd.grad(a * a, [a, b], allow_unused=True)[1] is None
    assert torch.func.grad(lambda a, b: a * a, argnums=1)(a.detach(), b.detach()) == 0
    for slope, after in ((None, 2.0), (torch.zeros_like(b), 1.9)):
        b.grad = slope
        torch.optim.SGD([b], lr=0.1, weight_decay=0.5).step()
        assert b.item() == pytest.approx(after)


def test_first_step_of_adam_has_the_size_of_the_rate() -> None:
    for slope in (1e-3, 1e3):
        p = leaf(0.0)
        p.grad = torch.tensor(slope).double()
        torch.optim.Adam([p], lr=0.1).step()
        assert p.item() == pytest.approx(-0.1 * slope / (slope + 1e-8))
    assert said(KATA, "η · g / (|g| + ε)")


def test_all_pairs_teach_the_mean_target() -> None:
    predictions, targets = normal(2, 8)
    apart = (predictions - targets.mean()).square().mean() + targets.var(correction=0)
    torch.testing.assert_close((predictions[:, None] - targets).square().mean(), apart)
    with pytest.warns(UserWarning, match="target size"):
        torch.nn.functional.mse_loss(predictions[:, None], targets)

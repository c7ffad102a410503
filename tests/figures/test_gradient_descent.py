"""The figures that gradient_descent's texts state."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "gradient_descent"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "gradient_descent_of_the_figures")


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


def leaf(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def test_example_by_hand() -> None:
    a, b = 1.0, 2.0
    assert ((a * b - 6) ** 2, 2 * (a * b - 6) * b, 2 * (a * b - 6) * a) == (16, -16, -8)
    a, b = a + 0.05 * 16, b + 0.05 * 8
    assert (a, b, round(a * b, 2), round((a * b - 6) ** 2, 4)) == (1.8, 2.4, 4.32, 2.8224)
    slopes = 2 * (a * b - 6) * b, 2 * (a * b - 6) * a
    assert slopes == pytest.approx((-8.064, -6.048))
    assert (a - 0.05 * slopes[0], b - 0.05 * slopes[1]) == pytest.approx((2.2032, 2.7024))
    assert said(KATA, "At a = 1 and b = 2 the loss is 16", "gradients are −16 and −8")
    assert said(KATA, "a = 1 + 0.05 · 16 = 1.8 and b = 2 + 0.05 · 8 = 2.4", "(4.32 − 6)² = 2.8224")
    assert said(KATA, "gradients are −8.064 and −6.048, so the second step leads to 2.2032 and 2.7024")


def test_regression_by_hand() -> None:
    x, y = (1, 3), (1, 5)
    products = [2 * -t * v for v, t in zip(x, y, strict=True)]
    assert (products, sum(products) / 2, [2 * -t for t in y], sum(2 * -t for t in y) / 2) == (
        [-2, -30],
        -16,
        [-2, -10],
        -6,
    )
    assert said(KATA, "2 · (−1) · 1 = −2 and 2 · (−5) · 3 = −30, that is −16", "the mean of −2 and −10, that is −6")
    assert said(KATA, "One step leads to w = 1.6 and b = 0.6")


def test_gradients_that_add_up_never_come_to_rest() -> None:
    cleared = leaf(1.0)
    REFERENCE.gradient_descent(lambda p: p * p / 2, [cleared], 0.1, 100)
    assert f"{cleared.item():.6f}" == "0.000027"
    added, sizes = leaf(1.0), []
    for _ in range(100):
        (added * added / 2).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            added -= 0.1 * added.grad  # type: ignore[operator]
        sizes.append(abs(added.item()))
    assert f"{max(sizes[60:]):.1f}" == "1.0"
    assert said(
        KATA, "100 cleared steps lead to 0.000027; without clearing, |θ| still reaches 1.0 between steps 60 and 100"
    )


def test_three_ways_of_an_update_by_hand() -> None:
    p = leaf(3.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        p -= 1.0
    assert (p - 1.0).grad_fn is not None
    p = leaf(3.0)
    square = p * p
    p.data -= 1.0
    square.backward()  # type: ignore[no-untyped-call]
    assert p.grad is not None
    assert p.grad.item() == 4.0  # of the new value, not of the old one
    p = leaf(3.0)
    square = p * p
    with torch.no_grad():
        p -= 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.backward()  # type: ignore[no-untyped-call]


def steps_for_a_digit(factor: float) -> float:
    return math.log(10) / -math.log(factor)


def test_steps_for_each_decimal_digit() -> None:
    plain, with_momentum = 99 / 101, 9 / 11
    assert (f"{plain:.3f}", f"{with_momentum:.3f}") == ("0.980", "0.818")
    assert (f"{steps_for_a_digit(plain):.0f}", f"{steps_for_a_digit(with_momentum):.1f}") == ("115", "11.5")
    assert round(steps_for_a_digit(9999 / 10001), -2) == 11500
    assert round(1 / (1 - 0.9)) == 10
    assert said(KATA, "For κ = 100 that is 0.980: 115 steps for each decimal digit", "about 11 500 steps")
    assert said(KATA, "for κ = 100 from 0.980 to 0.818, that is from 115 to 11.5 steps")
    assert said(KATA, "about 100² = 10 000", "With a coefficient of 0.9 the steady step is 10 times as long")


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


def test_backward_of_a_vector_is_that_of_the_sum() -> None:
    p = torch.ones(3, requires_grad=True)
    losses = p.square()
    losses.backward(torch.ones_like(losses))  # type: ignore[no-untyped-call]
    assert p.grad is not None
    assert p.grad.tolist() == [2.0, 2.0, 2.0]


def test_parameter_without_a_part_in_the_loss() -> None:
    a, b = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.autograd.grad(a * a, [a, b])
    assert torch.autograd.grad(a * a, [a, b], allow_unused=True)[1] is None
    assert torch.func.grad(lambda a, b: a * a, argnums=1)(a.detach(), b.detach()) == 0
    (a * a).backward()  # type: ignore[no-untyped-call]
    assert b.grad is None
    torch.optim.SGD([a, b], lr=0.1).step()
    assert b.item() == 2.0
    b.grad = torch.zeros_like(b)
    torch.optim.SGD([b], lr=0.1, weight_decay=0.5).step()
    assert b.item() == pytest.approx(1.9)


def test_all_pairs_teach_the_mean_target() -> None:
    predictions, targets = normal(2, 8).unbind()
    pairs = (predictions[:, None] - targets).square().mean()
    torch.testing.assert_close(
        pairs, (predictions - targets.mean()).square().mean() + targets.var(correction=0), rtol=1e-12, atol=0
    )
    with pytest.warns(UserWarning, match="target size"):
        torch.nn.functional.mse_loss(predictions[:, None], targets)


def test_descent_from_zeros_ends_at_the_least_norm() -> None:
    x, y = normal(3, 8), normal(3)
    w, b = REFERENCE.linear_regression_gd(x, y, 0.05, 4000)
    design = torch.cat([x, torch.ones(3, 1).double()], 1)
    torch.testing.assert_close(torch.cat([w, b[None]]), torch.linalg.pinv(design) @ y)


def test_product_stays_at_its_saddle_point() -> None:
    a, b = leaf(0.0), leaf(0.0)
    assert REFERENCE.gradient_descent(lambda a, b: (a * b - 6) ** 2, [a, b], 0.05, 3) == [36.0, 36.0, 36.0]
    assert said(KATA, "2(ab − 6) · b and 2(ab − 6) · a, both 0 at a = b = 0")


def test_first_step_of_adam_has_the_size_of_the_rate() -> None:
    for slope in (1e-3, 1e3):
        p = leaf(0.0)
        adam = torch.optim.Adam([p], lr=0.1)
        (slope * p).backward()  # type: ignore[no-untyped-call]
        adam.step()
        assert p.item() == pytest.approx(-0.1 * slope / (slope + 1e-8))
    assert 7e9 * 2 * 4 / 1e9 == 56
    assert said(KATA, "η · g / (|g| + ε)", "for 7 billion parameters in float32, 56 GB")


def test_small_updates_are_lost_in_bfloat16() -> None:
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert one - 0.001 == 1
    assert f"{1 - torch.nextafter(one, torch.zeros_like(one)).item():.4f}" == "0.0039"
    assert said(KATA, "Just below 1, bfloat16 numbers are 0.0039 apart, and 1 − 0.001 rounds back to 1")


def test_precision_of_a_batch_grows_with_its_root() -> None:
    assert math.sqrt(100) == 10
    assert said(KATA, "100 times the data make it 10 times more precise")


def test_one_gradient_for_two_parameters() -> None:
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    first, second = torch.autograd.grad((a + b).square().sum(), [a, b])
    assert first.data_ptr() == second.data_ptr()
    assert said(KATA, "may return one tensor for two parameters, as for a + b")

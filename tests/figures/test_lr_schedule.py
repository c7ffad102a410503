"""The figures that lr_schedule's texts state."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, LRScheduler, SequentialLR

from tests.figures import reference_of, said

KATA = "lr_schedule"
REFERENCE = reference_of(KATA).warmup_cosine


def stepped(scheduler: Callable[[torch.optim.Optimizer], LRScheduler], lr: float, steps: int) -> list[float]:
    """The rates that one of torch's schedulers gives the first steps."""
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=lr)
    schedule, rates = scheduler(optimizer), []
    for _ in range(steps):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        schedule.step()
    return rates


def test_first_update_of_adam_is_as_large_as_the_rate() -> None:
    weights = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    weights.grad = torch.tensor([0.001, -5.0, 2.0], dtype=torch.float64)
    torch.optim.Adam([weights], lr=0.1).step()
    torch.testing.assert_close(weights.detach().abs(), torch.full_like(weights, 0.1), rtol=1e-4, atol=0)
    assert said(KATA, "about ±lr, whether the gradient is 0.001 or 5")


def test_linear_lr_refuses_a_start_factor_of_0() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        stepped(lambda optimizer: LinearLR(optimizer, 0.0), 1.0, 1)
    assert said(KATA, "refuses a start factor of 0")


@pytest.mark.parametrize(("W", "T"), [(2, 9), (5, 17), (100, 1000)])
def test_schedulers_of_torch_give_the_same_up_to_the_end(W: int, T: int) -> None:
    def both(optimizer: torch.optim.Optimizer) -> LRScheduler:
        warmup, decay = LinearLR(optimizer, 1 / W, total_iters=W - 1), CosineAnnealingLR(optimizer, T - W, 0.01)
        return SequentialLR(optimizer, [warmup, decay], [W])

    expected = [REFERENCE(step, W, T, 0.1, 0.01) for step in range(T + 1)]
    assert stepped(both, 0.1, T + 1) == pytest.approx(expected, rel=1e-12)
    factors = stepped(lambda optimizer: LambdaLR(optimizer, lambda step: REFERENCE(step, W, T, 1, 0.1)), 0.1, T + 1)
    assert factors == pytest.approx(expected, rel=1e-12)
    assert said(KATA, "[LinearLR(optimizer, 1 / W, total_iters=W - 1), CosineAnnealingLR(optimizer, T - W, min_lr)]")


def test_angles_and_means() -> None:
    assert [REFERENCE(step, 4, 8, 1.0) for step in (3, 6, 8, 9)] == pytest.approx([1, 0.5, 0, 0])
    assert said(KATA, "the angle is π/2 and the rate one half")
    assert REFERENCE(500, 0, 1000, 1.0) == pytest.approx(0.5)
    assert REFERENCE((4 + 8) // 2, 4, 8, 1.0, 0.2) == pytest.approx((1.0 + 0.2) / 2)
    assert said(KATA, "If the run stops halfway, the rate is still half of the highest", "the middle (W + T) / 2")
    assert sum(REFERENCE(step, 0, 1000, 1.0, 0.1) for step in range(1001)) / 1001 == pytest.approx((1.0 + 0.1) / 2)
    assert said(KATA, "both shapes have the same mean rate, (base_lr + min_lr) / 2")
    assert {REFERENCE(step, 0, 9, 1e-5, 1e-5) for step in range(12)} == {1e-5}
    assert said(KATA, "with rates of 1e-3 and 1e-5 and a `min_lr` of 1e-5, the second group never decays")


def test_cosine_of_torch_rises_again() -> None:
    rates = stepped(lambda optimizer: CosineAnnealingLR(optimizer, T_max=10), 1.0, 21)
    assert [rates[step] for step in (10, 15, 20)] == pytest.approx([0, 0.5, 1])
    assert said(KATA, "step 10 has 0, step 15 has 0.5 again, and step 20 has 1", "at 2T − W it is back at `base_lr`")

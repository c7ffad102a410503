"""The figures that lr_schedule's texts state."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, LRScheduler, SequentialLR

from graders.catalogue import katas
from graders.catalogue.katas import load_module
from graders.faults import ROOT
from tests.figures import said

KATA = "lr_schedule"
(FOUND,) = katas.find([KATA], ROOT)
REFERENCE = load_module(FOUND.reference_file, "lr_schedule_of_the_figures").warmup_cosine


def stepped(scheduler: Callable[[torch.optim.Optimizer], LRScheduler], lr: float, steps: int) -> list[float]:
    """The rates that one of torch's schedulers gives the first steps."""
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=lr)
    schedule, rates = scheduler(optimizer), []
    for _ in range(steps):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        schedule.step()
    return rates


def test_example_by_hand() -> None:
    assert REFERENCE(0, 4, 8, 1.0) == 1 / 4
    assert f"{(1 + math.cos(math.pi / 4)) / 2:.4f} {math.cos(math.pi / 4):.4f}" == "0.8536 0.7071"
    assert REFERENCE(5, 4, 8, 1.0) == pytest.approx(0.8536, abs=5e-5)
    assert REFERENCE(6, 4, 8, 1.0) == pytest.approx(0.5)
    assert [REFERENCE(step, 4, 8, 1.0) for step in (8, 9)] == [0, 0]
    assert f"{0.2 + 0.8 * 0.8536:.4f} {REFERENCE(5, 4, 8, 1.0, 0.2):.4f}" == "0.8829 0.8828"
    assert said(KATA, "the rate is (1 + 0.7071) / 2 = 0.8536", "the angle is π/2 and the rate one half")
    assert said(KATA, "step 5 gets 0.2 + 0.8 · 0.85355 = 0.8828", "the first step has 0.25 already")


def test_first_update_of_adam_is_as_large_as_the_rate() -> None:
    weights = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    weights.grad = torch.tensor([0.001, -5.0, 2.0], dtype=torch.float64)
    torch.optim.Adam([weights], lr=0.1).step()
    torch.testing.assert_close(weights.detach().abs(), torch.full_like(weights, 0.1), rtol=1e-4, atol=0)
    assert said(KATA, "about ±lr for every parameter, whether the gradient there is 0.001 or 5")


def test_untuned_warmup() -> None:
    assert [round(2 / (1 - beta)) for beta in (0.999, 0.95)] == [2000, 40]
    assert said(KATA, "which is 2 000 steps for β₂ = 0.999 and 40 for 0.95")


def test_linear_lr_refuses_a_start_factor_of_0() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        stepped(lambda optimizer: LinearLR(optimizer, 0.0), 1.0, 1)
    assert said(KATA, "refuses a start factor of 0")


def test_cosine_of_torch_rises_again() -> None:
    rates = stepped(lambda optimizer: CosineAnnealingLR(optimizer, T_max=10), 1.0, 21)
    assert [rates[step] for step in (10, 15, 20)] == pytest.approx([0, 0.5, 1])
    assert said(KATA, "step 10 has 0, step 15 has 0.5 again, and step 20 has 1")
    W, T = 4, 8
    assert (1 + math.cos(math.pi * (2 * T - W - W) / (T - W))) / 2 == 1
    assert said(KATA, "at 2T − W it is back at `base_lr`")


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


def test_floor_of_1e_5_is_all_of_a_rate_of_1e_5() -> None:
    assert {REFERENCE(step, 0, 9, 1e-5, 1e-5) for step in range(12)} == {1e-5}
    assert said(KATA, "with rates of 1e-3 and 1e-5 and a `min_lr` of 1e-5, the second group never decays")


def test_micro_batches_are_no_steps() -> None:
    assert 100_000 // 8 == 12_500
    assert f"{REFERENCE(12_500, 0, 100_000, 1.0):.2f}" == "0.96"
    assert said(KATA, "100 000 micro-batches are 12 500 updates", "the rate is still 0.96 of the highest")


def test_rates_of_larger_batches() -> None:
    assert (8192 / 256, round(0.1 * 32, 1), f"{math.sqrt(32):.1f}") == (32, 3.2, "5.7")
    assert said(KATA, "multiplies it by 32, as from 0.1 at 256 samples to 3.2 at 8 192", "a factor of 5.7")


def test_more_steps_in_all_make_the_rate_jump() -> None:
    before, after = REFERENCE(9000, 0, 10_000, 1.0), REFERENCE(9000, 0, 20_000, 1.0)
    assert f"{before:.3f} {after:.3f} {after / before:.0f}" == "0.024 0.578 24"
    assert said(KATA, "0.024 of the highest for T = 10 000 and 0.578 for T = 20 000", "by a factor of 24")


def test_rate_halfway() -> None:
    assert REFERENCE(500, 0, 1000, 1.0) == pytest.approx(0.5)
    assert REFERENCE((4 + 8) // 2, 4, 8, 1.0, 0.2) == pytest.approx((1.0 + 0.2) / 2)
    assert said(KATA, "Stopped halfway, the rate is still half of the highest", "the middle (W + T) / 2")


def test_cosine_and_straight_line_have_the_same_mean() -> None:
    cosine = [REFERENCE(step, 0, 1000, 1.0, 0.1) for step in range(1001)]
    line = [1.0 - 0.9 * step / 1000 for step in range(1001)]
    assert sum(cosine) / 1001 == pytest.approx((1.0 + 0.1) / 2)
    assert sum(line) / 1001 == pytest.approx((1.0 + 0.1) / 2)
    assert said(KATA, "the mean rate of both shapes is the same, (base_lr + min_lr) / 2")


def test_weight_decay_of_adamw_follows_the_rate() -> None:
    steps, lr, decay = 100_000, 3e-4, 0.1
    constant = (1 - lr * decay) ** steps
    cosine = math.prod(1 - REFERENCE(step, 0, steps, lr) * decay for step in range(steps))
    assert f"{constant:.2f} {cosine:.2f}" == "0.05 0.22"
    assert said(KATA, "a weight without gradient to 0.05 of itself; with a cosine to 0 it is 0.22")


def test_digits_lost_near_the_end() -> None:
    n = 1_000_000
    computed, exact = REFERENCE(n - 1, 0, n, 1.0), math.sin(math.pi / 2 / n) ** 2
    assert f"{exact:.4e} {abs(computed / exact - 1):.0e}" == "2.4674e-12 6e-06"
    assert abs(computed - exact) < 1e-16
    assert 1 + torch.cos(torch.tensor(math.pi * (n - 1) / n)) == 0
    assert torch.finfo(torch.float32).eps == pytest.approx(1e-7, rel=0.2)
    assert said(KATA, "T is 2.4674e-12, and Python's floats get it wrong by 6 parts in a million", "come out as 0")


def test_progress_counted_from_step_0_makes_the_rate_drop() -> None:
    assert REFERENCE(3, 4, 8, 1.0) == 1
    assert (1 + math.cos(math.pi * 4 / 8)) / 2 == pytest.approx(0.5)
    assert said(KATA, "with W = 4 and T = 8 from 1 to 0.5")

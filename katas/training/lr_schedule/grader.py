"""What is checked of warmup_cosine."""

import math
from collections.abc import Iterable

import pytest
import torch

from graders.kata import Answer, Arguments, Case, Draw, Grader, Submission, Tolerance, close

# Relative, so that small rates count: right answers are six orders of magnitude better, float32 is 60 times worse. At
# the end of a decay to 0 the cosine leaves some 1e-17, which the absolute part allows.
TOLERANCE = Tolerance(1e-9, 0.0, 1e-15)


def by_definition(step: int, warmup_steps: int, total_steps: int, base_lr: float, min_lr: float = 0.0) -> float:
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    if step >= total_steps:
        return min_lr
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * progress)) / 2


def rates(W: int, T: int, base_lr: float, min_lr: float | None, steps: Iterable[int]) -> list[Arguments]:
    """One call per step; a min_lr of None is left out."""
    schedule: Arguments = {"warmup_steps": W, "total_steps": T, "base_lr": base_lr}
    schedule |= {} if min_lr is None else {"min_lr": min_lr}
    return [{"step": step, **schedule} for step in steps]


def ask(name: str, *schedules: list[Arguments], tolerance: Tolerance = TOLERANCE, core: bool = True) -> Case:
    """No tensor comes in, so every case is asked once."""
    calls = [call for schedule in schedules for call in schedule]
    return Case(name, lambda _: calls, dtypes=(torch.float64,), tolerance={torch.float64: tolerance}, core=core)


def first_steps() -> list[Arguments]:
    return [call for W in (1, 2, 7, 100) for call in rates(W, 1000, 0.8, 1e-3, range(min(W, 3)))]


def joint() -> list[Arguments]:
    return [call for W in (2, 10, 333) for call in rates(W, 4 * W + 3, 0.3, 0.02, range(W - 2, W + 2))]


def past_the_end() -> list[Arguments]:
    """Also where a cosine that goes on, or starts anew, is back at the top."""
    schedules = [(W, T, 0.4, min_lr) for W, T in ((4, 20), (0, 7)) for min_lr in (0.0, 0.03)]
    return [
        call
        for W, T, base_lr, min_lr in schedules
        for call in rates(W, T, base_lr, min_lr, (T - 1, T, T + 1, T + 5, 2 * T - W, 10 * T, 10**12))
    ]


def any_schedule(draw: Draw) -> list[Arguments]:
    W, decay = draw.size(2, 30), draw.size(2, 30)
    return rates(W, W + decay, draw.number(0.2, 2), draw.number(0.01, 0.1), range(W + decay + 2))


GRADER = Grader(
    answers=(
        Answer(
            "warmup_cosine(step, warmup_steps, total_steps, base_lr, min_lr=0.0)",
            oracle=by_definition,
            cases=(
                ask("default_min_lr", rates(3, 11, 0.5, None, range(12))),
                ask("whole_schedule", rates(5, 17, 0.1, 0.01, range(18))),
                Case("any_schedule", any_schedule, dtypes=(torch.float64,), tolerance={torch.float64: TOLERANCE}),
                ask("first_steps", first_steps()),
                ask("joint", joint()),
                ask("no_warmup", rates(0, 9, 0.25, 0.05, range(10))),
                ask("one_warmup_step", rates(1, 6, 250.0, 0.5, range(7))),
                ask("one_decay_step", rates(4, 5, 0.6, 0.1, range(8))),
                ask("past_the_end", past_the_end()),
                ask("warmup_below_min_lr", rates(10, 14, 0.2, 0.1, range(15))),
                ask("min_lr_equal_to_base_lr", rates(4, 9, 0.2, 0.2, range(12))),
                ask(
                    "small_rates",
                    rates(2000, 100_000, 3e-4, 3e-5, (0, 1, 999, 1999, 2000, 2001, 25_000, 51_000, 77_777)),
                    rates(2000, 100_000, 3e-4, 3e-5, (99_998, 99_999, 100_000)),
                    rates(8, 40, 4.1234e-11, 2.345e-13, (0, 6, 8, 20, 33, 39, 40)),
                    tolerance=Tolerance(1e-9, 0.0, 1e-22),
                    core=False,
                ),
                # float32 does not hold the first of these steps; and nobody can go through all of them.
                ask(
                    "a_billion_steps",
                    rates(20_000_001, 10**9, 0.7, 0.1, (16_777_217, 19_999_999, 20_000_001)),
                    rates(20_000_001, 10**9, 0.7, 0.1, (123_456_789, 500_000_003, 900_000_001)),
                    rates(900_000_001, 10**9, 0.7, 0.1, (899_999_999,)),
                    core=False,
                ),
            ),
        ),
    ),
    banned=("lr_scheduler", "swa_utils"),
)


@pytest.mark.robustness
def test_steps_may_come_in_any_order(submission: Submission, draw: Draw) -> None:
    """The steps of two drawn schedules, and of three that differ from the second in one argument, all shuffled."""
    calls: list[Arguments] = []
    for _ in range(2):
        W, base_lr = int(draw.integers(low=2, high=9)), float(draw.uniform(low=0.1, high=0.9))
        T = W + int(draw.integers(low=5, high=30))
        min_lr = float(draw.uniform(high=base_lr))
        calls += rates(W, T, base_lr, min_lr, range(T + 2))
    for changed in ((W + 1, T, base_lr, min_lr), (W, T + 1, base_lr, min_lr), (W, T, 2 * base_lr, min_lr)):
        calls += rates(*changed, range(1, T, 3))
    for index in draw.permutation(len(calls)).tolist():
        call = calls[index]
        got, expected = submission.call("warmup_cosine", **call), by_definition(**call)
        asked = ", ".join(f"{name}={value:.6g}" for name, value in call.items())
        one, other = (torch.tensor(rate, dtype=torch.float64) for rate in (got, expected))
        close(f"the rate for {asked}, after calls with other steps", one, other, TOLERANCE)

"""A policy that learns by GRPO to add digits up: its files, and what a right run shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

TITLE = "a policy that learns by GRPO to write digits that add up"
SCRIPT = "train.py"
PARTS = ("policy", "grpo")
EXTENSIONS = ()


def symptoms(output: Any) -> Iterator[str]:
    """In the order in which people meet them; the right files keep these bounds at the seeds 300 to 329."""
    figures = {name: output.curve(name) for name in ("reward", "entropy", "off", "moved", "kl")}
    if not all(figures.values()):
        yield "The script does not print its figures."
        return
    if nans := [*output.nans]:
        yield from nans
        return
    (_, off) = max(figures["off"], key=lambda one: one[1])
    if off > 0.001:
        yield f"In the first epoch of a step a ratio is {off:.3f} away from 1, before anything is learned from it."
    first, entropy = figures["entropy"][0][1], figures["entropy"][-1][1]
    if not 2.2 < first < 2.398:
        yield f"The entropy is {first:.2f} at the first step; a new policy over 11 tokens has nearly log 11, 2.40."
    rewards, last = dict(figures["reward"]), figures["reward"][-1][1]
    right = output.numbers("new answers")[:1] or [0.0]
    if right[0] < 0.8:
        best = max(rewards.values())
        stays = best < rewards.get(1, 0.0) + 0.15
        ends = f"is {last:.2f} at the last step and {best:.2f} at best: of new answers, {right[0]:.0%} are right."
        falls = f" The entropy falls to {entropy:.2f}." if entropy < 0.6 else ""
        yield f"The reward {f'stays at {last:.2f}.' if stays else ends}{falls}"
    if entropy > 1.0:
        yield f"The entropy is still {entropy:.2f} at the last step."
    if rewards.get(30, 0.0) > 0.8:
        yield f"The reward is {rewards[30]:.2f} at step 30; learning to add up takes longer."
    if max(value for _, value in figures["moved"]) < 0.05:
        yield "After an epoch no ratio has moved away from 1."
    kl = [value for _, value in figures["kl"]]
    if min(kl) < -0.001 or max(kl) > 8:
        yield f"The KL to the reference is {min(kl):.2f} to {max(kl):.2f}."
    length = output.numbers("length")[:1] or [math.nan]
    if not 2.5 < length[0] < 5.2:
        yield f"Answers have {length[0]:.1f} tokens on average, the END included."

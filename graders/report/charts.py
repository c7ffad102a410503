"""What the report draws: points over time, and an axis of costs. Places are in per cent, so they fit any screen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from graders.report.tally import Span

DISTANCES = (1, 2, 7, 14, 28, 56, 91, 182)  # days between two labels
MOST_DATES = 8  # labels; a narrow screen shows every other one
YEAR = 365
STEPS = (1, 2, 3, 5)
MOST_TICKS = 4
CHEAPEST = -3  # as a power of two: what costs less still stands at that end of its axis
MOST_DOUBLINGS = 4  # that have a label each


@dataclass(frozen=True)
class PointsChart:
    """Where dates and points stand on a chart of some days, of two at least: from its left and from its top."""

    days: Sequence[Span]

    def across(self, day: date) -> float:
        first, last = self.days[0].begins, self.days[-1].begins
        return round(100 * (day - first).days / (last - first).days, 2)

    def down(self, points: int) -> float:
        return round(100 - 100 * points / self.ticks[-1], 2)

    @property
    def ticks(self) -> list[int]:
        return ticks(self.days[-1].points)

    @property
    def dates(self) -> list[tuple[date, str]]:
        return dates(self.days[0].begins, self.days[-1].begins)


def ticks(most: int) -> list[int]:
    """Round numbers from 0 to `most` or just beyond it."""
    step = next(
        step * 10**power for power in range(9) for step in STEPS if step * 10**power * MOST_TICKS >= max(most, 1)
    )
    return [step * i for i in range(-(-max(most, 1) // step) + 1)]


def dates(first: date, last: date) -> list[tuple[date, str]]:
    """Some at equal distances, with their labels."""
    days = (last - first).days
    step = next(step for step in itertools.chain(DISTANCES, itertools.count(364, 364)) if days // step < MOST_DATES)
    form = words if days < YEAR else month
    every = [first + timedelta(days=at) for at in range(0, days + 1, step)]
    return [(day, form(day)) for day in every]


def words(day: date) -> str:
    return f"{day.day} {day:%b}"


def month(day: date) -> str:
    return f"{day:%b} {day:%Y}"


def place(ratio: float, ratios: Sequence[float]) -> float:
    """Where a ratio stands, in per cent, on an axis of doublings that has room for all of them."""
    low, high = ends(ratios)
    return round(100 * (max(math.log2(ratio) if ratio else low, low) - low) / (high - low), 1)


def doublings(ratios: Sequence[float]) -> list[tuple[float, str]]:
    """The labels of that axis, and where they stand."""
    low, high = ends(ratios)
    every = 1 + (high - low) // (MOST_DOUBLINGS + 1)
    texts = {-3: "⅛", -2: "¼", -1: "½"}
    powers = [power for power in range(low, high + 1) if power % every == 0]
    return [(place(2.0**power, ratios), texts.get(power, str(2 ** max(power, 0)))) for power in powers]


def ends(ratios: Sequence[float]) -> tuple[int, int]:
    """The least and the greatest power of two on the axis; half and double are always on it."""
    powers = [math.log2(ratio) for ratio in ratios if ratio]
    return max(CHEAPEST, math.floor(min([-1, *powers]))), math.ceil(max([1, *powers]))

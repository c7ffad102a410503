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
    """A line that steps up on the days on which a best score rose, with a dot where a kata was solved.

    Args:
        title: from when to when.
        steps: the line as an SVG path, after its beginning at the bottom left.
        dots: across, down, and in words.
        dates: across, and the label.
        ticks: down, and the label.
    """

    title: str
    steps: str
    dots: list[tuple[float, float, str]]
    dates: list[tuple[float, str]]
    ticks: list[tuple[float, int]]


def points_over_time(found: Sequence[Span]) -> PointsChart:
    """Of two days at least."""
    first, last = found[0].begins, found[-1].begins
    length, labels = (last - first).days, ticks(found[-1].points)

    def across(days: int) -> float:
        return round(100 * days / length, 2)

    def down(points: int) -> float:
        return round(100 - 100 * points / labels[-1], 2)

    places = [(across((day.begins - first).days), down(day.points), day) for day in found]
    return PointsChart(
        f"Points from {words(first)} to {words(last)} {last:%Y}",
        "".join(f"H{x}V{y}" for x, y, _ in places),
        [(x, y, f"{words(day.begins)}: solved {', '.join(day.solved)}") for x, y, day in places if day.solved],
        [(across(days), label) for days, label in dates(first, length)],
        [(down(points), points) for points in labels],
    )


def ticks(most: int) -> list[int]:
    """Round numbers from 0 to `most` or just beyond it."""
    step = next(
        step * 10**power for power in range(9) for step in STEPS if step * 10**power * MOST_TICKS >= max(most, 1)
    )
    return [step * i for i in range(-(-max(most, 1) // step) + 1)]


def dates(first: date, days: int) -> list[tuple[int, str]]:
    """Labels at equal distances, each with the days before it."""
    step = next(step for step in itertools.chain(DISTANCES, itertools.count(364, 364)) if days // step < MOST_DATES)
    form = words if days < YEAR else month
    return [(at, form(first + timedelta(days=at))) for at in range(0, days + 1, step)]


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

"""What a learner's events add up to, for the report: over time, by category, and in cost."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from graders.desk.progress import cost_of, figures_of, progress_of
from graders.desk.state import Event
from graders.judge.budgets import NOUNS, megabytes
from graders.judge.checks import Check
from graders.judge.results import KEPT
from graders.kata.spec import CATEGORIES


@dataclass(frozen=True)
class Span:
    """A day, or a week, in the learner's calendar.

    Args:
        begins: its first day.
        points: the best scores of all katas, added up, at its end.
        attempts: files judged.
        hints: shown for the first time.
        solved: katas, each time one was solved from a clean stub.
    """

    begins: date
    points: int = 0
    attempts: int = 0
    hints: int = 0
    solved: tuple[str, ...] = ()


def days(events: Sequence[Event], katas: Sequence[str]) -> list[Span]:
    """Those on which anything happened."""
    found = progress_of((), katas)
    made = []
    ours = (event for event in events if event.kata in found)
    for day, group in itertools.groupby(ours, key=lambda event: event.at.astimezone().date()):
        before = {name: replace(one) for name, one in found.items()}
        for event in group:
            found[event.kata].add(event)
        pairs = [(one, before[name]) for name, one in found.items()]
        made.append(
            Span(
                day,
                points=sum(one.best for one in found.values()),
                attempts=sum(one.attempts - old.attempts for one, old in pairs),
                hints=sum(one.known - old.known for one, old in pairs),
                solved=tuple(one.kata for one, old in pairs for _ in range(one.solved - old.solved)),
            )
        )
    return made


def weeks(found: Sequence[Span]) -> list[Span]:
    """From Monday to Sunday, without those on whose days nothing happened."""
    made = []
    for monday, group in itertools.groupby(found, key=lambda day: day.begins - timedelta(days=day.begins.weekday())):
        some = list(group)
        attempts, hints = sum(day.attempts for day in some), sum(day.hints for day in some)
        solved = tuple(kata for day in some for kata in day.solved)
        made.append(Span(monday, some[-1].points, attempts, hints, solved))
    return made


@dataclass(frozen=True)
class Cell:
    """How many checks of a category there are, how many were asked, and how many passed."""

    planned: int = 0
    asked: int = 0
    passed: int = 0

    def __add__(self, other: Cell) -> Cell:
        return Cell(self.planned + other.planned, self.asked + other.asked, self.passed + other.passed)

    @property
    def shade(self) -> int:
        """From 0, none passes, to 4, all do."""
        return 4 * self.passed // self.planned if self.planned else 0


def standing(attempts: Sequence[Event], planned: Sequence[Check]) -> dict[str, Cell]:
    """By category, what the last attempt passed at which the grader was as it is; empty where there is none.

    Where it was changed since, or the attempt is of a version that kept no skipped checks, the score is another.
    """
    for attempt in reversed(attempts):
        asked = [check for check in planned if check.name not in attempt.body.get("skipped", ())]
        passed = [check for check in asked if check.name not in attempt.body["failed"]]
        kept = [check for check in passed if check.category in KEPT]  # all that counts where the rules were broken
        if attempt.body["score"] in [sum(check.points for check in some) for some in (passed, kept)]:
            counts = [Counter(check.category for check in some) for some in (planned, asked, passed)]
            return {category: Cell(*(count[category] for count in counts)) for category in CATEGORIES}
    return {}


def total(cells: Sequence[dict[str, Cell]]) -> dict[str, Cell]:
    return {category: sum((one[category] for one in cells), Cell()) for category in CATEGORIES}


@dataclass(frozen=True)
class Figure:
    """One thing that was measured of an attempt, beside the reference's."""

    budget: str
    noun: str
    own: str
    reference: str
    ratio: float | None


@dataclass(frozen=True)
class Price:
    """What the cheapest solved attempt at a kata cost: its worst figure as a multiple of the reference's, and all."""

    kata: str
    ratio: float
    attempt: Event

    @property
    def figures(self) -> list[Figure]:
        return [
            Figure(budget, NOUNS[name], in_words(name, own), in_words(name, needed), own / needed if needed else None)
            for budget, name, (own, needed) in figures_of(self.attempt)
        ]

    @property
    def worst(self) -> Figure:
        return max(self.figures, key=lambda figure: figure.ratio or 0.0)


def in_words(figure: str, value: float) -> str:
    if figure == "time":
        return f"{value:.1f} ×"
    return f"{value:,.0f}" if figure == "operators" else megabytes(value)


def prices(events: Sequence[Event], katas: Sequence[str]) -> list[Price]:
    """Of the katas whose cost is known, the dearest first."""
    found: dict[str, Price] = {}
    for event in events:
        if event.kind == "attempt" and event.body["state"] == "solved" and event.kata in katas:
            ratio = cost_of(event)
            if ratio is not None and (event.kata not in found or ratio < found[event.kata].ratio):
                found[event.kata] = Price(event.kata, ratio, event)
    return sorted(found.values(), key=lambda price: (-price.ratio, price.kata))

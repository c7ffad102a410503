"""How a learner practises, for the report: on which days, how long a kata takes, what fails again, what is kept."""

from __future__ import annotations

import calendar
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from graders.catalogue.katas import Kata
from graders.desk.progress import PAUSE, Progress, is_unfinished
from graders.desk.state import Event
from graders.judge.checks import POINTS
from graders.report.tally import Span

AHEAD = timedelta(days=30)
BEFORE = timedelta(days=92)
SHADES = (1, 3, 6, 10)  # attempts on a day, from which it has the next colour
MOST_CHECKS = 10
AT_ONCE = 4  # the rating of a kata that was solved without a failure or a hint


@dataclass(frozen=True)
class Day:
    """A day of the calendar: how many attempts there were, and which katas will be due."""

    date: date
    attempts: int = 0
    due: tuple[str, ...] = ()

    @property
    def shade(self) -> int:
        return sum(self.attempts >= least for least in SHADES)


def months(spans: Sequence[Span], due: Mapping[date, Sequence[str]], today: date) -> dict[date, list[list[Day | None]]]:
    """First day -> weeks from Monday to Sunday, with None for the days of other months.

    From the first day of practice, at most some three months ago, to the last day that is looked ahead to.
    """
    attempts = {span.begins: span.attempts for span in spans}
    at = max(min([today, *attempts]), today - BEFORE).replace(day=1)
    made = {}
    while at <= today + AHEAD:
        made[at] = [
            [Day(day, attempts.get(day, 0), tuple(due.get(day, ()))) if day.month == at.month else None for day in week]
            for week in calendar.Calendar().monthdatescalendar(at.year, at.month)
            if week[0] <= today + AHEAD
        ]
        at = (at + timedelta(days=31)).replace(day=1)
    return made


def due_by_day(coming: Iterable[Progress], today: date) -> dict[date, list[str]]:
    """What FSRS wants to be seen again in the days that are looked ahead to."""
    made: dict[date, list[str]] = {}
    for one in coming:
        assert one.due
        day = max(one.due.astimezone().date(), today)
        if day <= today + AHEAD:
            made.setdefault(day, []).append(one.kata)
    return made


@dataclass(frozen=True)
class First:
    """How a kata was solved for the first time."""

    kata: Kata
    day: date
    attempts: int
    minutes: int | None
    rating: int


def firsts(events: Sequence[Event], katas: Mapping[str, Kata], found: Mapping[str, Progress]) -> list[First]:
    """The newest first. The minutes are those from its opening to the last thing that was done, without pauses."""
    made = []
    for name, kata in katas.items():
        if not found[name].ratings:
            continue
        solved, rating = found[name].ratings[0]
        until = [event for event in events if event.kata == name and event.at <= solved]
        gaps = [later.at - sooner.at for sooner, later in itertools.pairwise(until)]
        work = sum((gap for gap in gaps if gap <= PAUSE), timedelta())
        minutes = round(work.total_seconds() / 60) if gaps else None
        made.append(First(kata, solved.astimezone().date(), sum(one.is_judged for one in until), minutes, rating))
    return sorted(made, key=lambda one: one.day, reverse=True)


@dataclass(frozen=True)
class Stumble:
    """A check that failed, in words; in how many attempts, and at which katas."""

    words: str
    attempts: int
    katas: tuple[str, ...]


def stumbles(events: Iterable[Event]) -> list[Stumble]:
    """The checks that failed in most attempts, in two at least.

    Answers that are half done tell nothing: there, nearly all of them fail.
    """
    failed = defaultdict[str, list[str]](list)  # in words -> the kata of each attempt
    for event in events:
        if event.kind != "attempt" or event.body["state"] != "failing" or is_unfinished(event):
            continue
        if 2 * event.body["score"] < POINTS:
            continue
        for words in {in_words(name) for name in own_failures(event)}:
            failed[words].append(event.kata)
    again = [Stumble(one, len(names), tuple(sorted(set(names)))) for one, names in failed.items() if len(names) > 1]
    return sorted(again, key=lambda one: (-one.attempts, one.words))[:MOST_CHECKS]


def own_failures(attempt: Event) -> list[str]:
    """The checks that failed, without those that fail because another does.

    One error fails several, wrong values of a case make its gradients wrong, and wrong mathematics all else.
    """
    failed: list[str] = attempt.body["failed"]
    wrong = {name.partition("/")[2] for name in failed if name.startswith("numerics/")}
    explained = set(attempt.body.get("repeats", ())) | {f"gradients/{of_values}" for of_values in wrong}
    core = attempt.body.get("core", not wrong)
    return [name for name in failed if name not in explained and (core or not name.startswith("robustness/"))]


def in_words(name: str) -> str:
    """gradients/zero_vectors/float32 -> "gradients: zero vectors"."""
    category, _, rest = name.partition("/")
    return f"{category}: {rest.partition('/')[0].replace('_', ' ')}" if rest else category

"""What a learner's events add up to for each kata: state, best score, hints, cost, and by FSRS when it is due."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from graders.desk.state import Event
from graders.judge.budgets import TELLING

if TYPE_CHECKING:
    from fsrs import Card, Scheduler

LEVELS_OF_HINTS = 3
PAUSE = timedelta(minutes=30)  # nobody says when they went away; a longer gap is not counted as work
RATINGS = {  # as FSRS numbers them
    1: "gave up, or took all hints",
    2: "with hints",
    3: "after failures, or at first only the core",
    4: "at once",
}


@dataclass
class Progress:
    """One kata, as far as its learner has come.

    Args:
        kata: its id.
        state: of the last attempt; "core" where it failed although its mathematics was right; "todo" before the first,
            and after the stub was made clean.
        score: of the last attempt.
        best: the highest score so far.
        attempts: files judged, in all.
        failures: attempts since the stub was last clean whose mathematics was wrong; unfinished files do not count,
            nor those that cannot be imported.
        hints: the level that was reached since the stub was last clean.
        known: the level that was ever reached: those hints are shown again for free.
        core: whether the mathematics was ever right.
        rated: whether FSRS was told since the stub was last clean how it went.
        solved: how often it was solved from a clean stub.
        cost: of the cheapest solved attempt, in multiples of the reference's: its worst figure.
        card: FSRS's memory of it; None before its core was right.
    """

    kata: str
    state: str = "todo"
    score: int = 0
    best: int = 0
    attempts: int = 0
    failures: int = 0
    hints: int = 0
    known: int = 0
    core: bool = False
    rated: bool = False
    solved: int = 0
    cost: float | None = None
    card: Card | None = None
    ratings: list[tuple[datetime, int]] = field(default_factory=list)
    recalls: list[tuple[float, bool]] = field(default_factory=list)  # of each review: the chance by FSRS, and the truth
    open: bool = True  # begun from a clean stub, and not solved since
    place: str = ""  # of its last start
    last_look: date | None = None  # by which it should be seen again, see goal.py

    @property
    def due(self) -> datetime | None:
        """When it should be reviewed."""
        return next_due(self.card.due, self.card.last_review, self.last_look) if self.card else None

    def add(self, event: Event) -> None:
        """Goes on by one event."""
        if event.is_judged:
            self.add_attempt(event)
        elif event.kind == "hint":
            self.hints = max(self.hints, event.body["level"])
            self.known = max(self.known, event.body["level"])
        elif event.kind == "start" and event.body.get("moved"):
            self.place = event.place
        elif event.kind == "start":
            if self.open and self.card and self.failures and not self.rated:
                self.rate(event.at, 1)  # knew it once, tried again, and gave up
            self.state, self.score, self.failures, self.hints, self.open = "todo", 0, 0, 0, event.body["clean"]
            self.rated, self.place = False, event.place

    def add_attempt(self, event: Event) -> None:
        self.attempts += 1
        self.best = max(self.best, event.body["score"])
        if self.card and self.open and self.place and self.place != event.place:
            return  # the answer that it had before, judged again beside a review of it
        self.state, self.score = reached(event), event.body["score"]
        self.failures += self.open and self.state == "failing" and not is_unfinished(event)
        if self.state not in ("core", "solved"):
            return
        self.core = True
        if self.open and not self.rated:
            self.rate(event.at, self.rating())
        if self.state == "core":
            return
        cost = cost_of(event)
        if cost is not None:
            self.cost = min(cost, self.cost or cost)
        if self.open:
            self.solved += 1
            self.open = False

    def rating(self) -> int:
        """How it went: at once, after failures or with edges left, with hints, with all hints."""
        if self.hints:
            return 1 if self.hints >= LEVELS_OF_HINTS else 2
        return 3 if self.failures or self.state == "core" else 4

    def rate(self, at: datetime, rating: int) -> None:
        from fsrs import Rating

        self.rated = True
        self.ratings.append((at, rating))
        if self.card:
            chance = scheduler().get_card_retrievability(self.card, at.astimezone(UTC))
            self.recalls.append((chance, rating != Rating.Again))
        self.card = remembered(self.card, at, rating)


def remembered(card: Card | None, at: datetime, rating: int) -> Card:
    """FSRS's memory of something, once it is told how it went this time."""
    from fsrs import Card, Rating

    at = at.astimezone(UTC)
    return scheduler().review_card(card or Card(card_id=0, due=at), Rating(rating), review_datetime=at)[0]


@functools.cache
def scheduler() -> Scheduler:
    """Days, not minutes, and the same on every machine: no steps within a day, nothing drawn."""
    from fsrs import Scheduler

    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def reached(attempt: Event) -> str:
    """An attempt's state, or "core" where it failed although the mathematics was right."""
    state: str = attempt.body["state"]
    return "core" if state == "failing" and attempt.body.get("core") else state


def is_unfinished(attempt: Event) -> bool:
    """Whether it was saved on the way: a part of the stub was still there."""
    return "NotImplementedError" in (attempt.body.get("message") or "")


def next_due(due: datetime, before: datetime | None, last_look: date | None) -> datetime:
    """What FSRS says, or the last look before a goal, if that is sooner and was not taken yet."""
    if last_look is None or (before is not None and before.astimezone().date() >= last_look):
        return due
    return min(due, datetime.combine(last_look, time()).astimezone())


def figures_of(attempt: Event) -> list[tuple[str, str, tuple[float, float]]]:
    """(budget, figure, own and the reference's); without the times of older versions that were noise."""
    return [
        (budget, name, pair)
        for budget, figures in attempt.body["costs"].items()
        for name, pair in figures.items()
        if name != "time" or pair[0] >= TELLING
    ]


def cost_of(attempt: Event) -> float | None:
    """Its worst figure against the reference's, over all budgets; None where nothing was measured."""
    pairs = [pair for _, _, pair in figures_of(attempt)]
    ratios = [own / reference for own, reference in pairs if reference]
    return round(max(ratios), 2) if ratios else None


def progress_of(events: Iterable[Event], katas: Sequence[str]) -> dict[str, Progress]:
    """By kata, in that order; events of katas that are not here any more are left out."""
    found = {kata: Progress(kata) for kata in katas}
    for event in events:
        if event.kata in found:
            found[event.kata].add(event)
    return found


def due(found: dict[str, Progress], at: datetime) -> list[Progress]:
    """What should be reviewed by then, the longest due first."""
    waiting = [(one.due, one) for one in found.values() if one.due is not None and one.due <= at]
    return [one for _, one in sorted(waiting, key=lambda pair: pair[0])]

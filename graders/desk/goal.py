"""Practising for a date: what was solved is seen again in the days before it, a part of it on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from graders.desk.progress import Progress, next_due, scheduler
from graders.desk.state import Event

LAST_DAYS = 14  # over which the last look at everything is spread; half of the time where there is less
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Goal:
    """The day that everything should be known on, and the one on which that was said."""

    since: date
    until: date

    def last_look(self, place: int) -> date:
        """When the kata that was solved as the first, second, … is seen again, if FSRS would leave it alone till then.

        So each of the last days has as many as another, and a kata that is solved meanwhile moves no other.
        """
        return self.until - DAY * (1 + place % min(LAST_DAYS, max((self.until - self.since).days // 2, 1)))


def goal_of(events: Iterable[Event], today: date) -> Goal | None:
    """The one that was set last, as long as it lies ahead."""
    found = None
    for event in events:
        if event.kind == "goal":
            until = event.body["until"]
            found = Goal(event.at.astimezone().date(), date.fromisoformat(until)) if until else None
    return found if found and found.until > today else None


def limit_of(events: Iterable[Event]) -> int | None:
    """How many reviews a day may have, as it was said last; None for as many as there are."""
    limits = [event.body["a_day"] for event in events if event.kind == "goal" and "a_day" in event.body]
    return limits[-1] if limits else None


def set_last_looks(goal: Goal, found: Mapping[str, Progress]) -> None:
    """Spreads them over the last days."""
    solved = sorted((one for one in found.values() if one.ratings), key=lambda one: one.ratings[0][0])
    for place, one in enumerate(solved):
        one.last_look = goal.last_look(place)


def reviewed_on(found: Mapping[str, Progress], day: date) -> int:
    """How many reviews there were; to solve a kata for the first time is none."""
    return sum(at.astimezone().date() == day for one in found.values() for at, _ in one.ratings[1:])


def plan(goal: Goal, found: Mapping[str, Progress], at: datetime, a_day: int | None = None) -> dict[date, list[str]]:
    """What will be seen on each day before the goal, if every review goes well; what finds no room on its day waits."""
    from fsrs import Rating

    cards = {name: one.card for name, one in found.items() if one.card}
    dues = {name: one.due for name, one in found.items() if one.due}
    made: dict[date, list[str]] = {}
    today = day = at.astimezone().date()
    room = None if a_day is None else max(a_day - reviewed_on(found, today), 0)
    while day < goal.until:
        waiting = sorted((due, name) for name, due in dues.items() if due.astimezone().date() <= day)
        for due, name in waiting[:room]:
            made.setdefault(day, []).append(name)
            seen = max(due, at, datetime.combine(day, time()).astimezone())
            cards[name], _ = scheduler().review_card(cards[name], Rating.Good, review_datetime=seen.astimezone(UTC))
            dues[name] = next_due(cards[name].due, cards[name].last_review, found[name].last_look)
        day, room = day + DAY, a_day
    return made


def without_last_look(found: Mapping[str, Progress], planned: Mapping[date, Sequence[str]]) -> list[str]:
    """What such a plan has no room for: it is not seen again in the last days before the goal."""
    last = {name: day for day, names in planned.items() for name in names}
    return [
        name
        for name, one in found.items()
        if one.card
        and one.card.last_review
        and one.last_look
        and max(one.card.last_review.astimezone().date(), last.get(name, date.min)) < one.last_look
    ]


def recall(goal: Goal, one: Progress) -> float:
    """The chance that it is still known on that day without a further look at it; 0 where it was never solved."""
    there = datetime.combine(goal.until, time(12)).astimezone(UTC)
    return scheduler().get_card_retrievability(one.card, there) if one.card else 0.0

"""Practising for a date: what was solved is seen again in the days before it, a part of it on each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
        """When the kata of this place on the path is seen again, if FSRS would leave it alone until the goal."""
        return self.until - DAY * (1 + place % min(LAST_DAYS, max((self.until - self.since).days // 2, 1)))


def goal_of(events: Iterable[Event], today: date) -> Goal | None:
    """The one that was set last, as long as it lies ahead."""
    found = None
    for event in events:
        if event.kind == "goal":
            until = event.body["until"]
            found = Goal(event.at.astimezone().date(), date.fromisoformat(until)) if until else None
    return found if found and found.until > today else None


def plan(goal: Goal, found: Mapping[str, Progress], at: datetime) -> dict[date, list[str]]:
    """What will be due on each day before the goal, if every review goes well."""
    from fsrs import Rating

    made: dict[date, list[str]] = defaultdict(list)
    for name, one in found.items():
        due, card = one.due, one.card
        while due is not None and card is not None:
            due = max(due, at)
            if due.astimezone().date() >= goal.until:
                break
            made[due.astimezone().date()].append(name)
            card, _ = scheduler().review_card(card, Rating.Good, review_datetime=due.astimezone(UTC))
            due = next_due(card.due, card.last_review, one.last_look)
    return dict(sorted(made.items()))


def recall(goal: Goal, one: Progress) -> float:
    """The chance that it is still known on that day without a further look at it; 0 where it was never solved."""
    there = datetime.combine(goal.until, time(12)).astimezone(UTC)
    return scheduler().get_card_retrievability(one.card, there) if one.card else 0.0

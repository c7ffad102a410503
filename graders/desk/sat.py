"""What is sat against a clock, an interview or a debug round, as its events tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from graders.desk.state import Event


@dataclass
class Sat:
    """One of them; what happens at each event is done by a method `add_…`, which may say what happened.

    Args:
        id: what its events are known by.
        when: it began, in UTC.
        minutes: that it should take.
        seed: what it was drawn by.
        elapsed: seconds, at its last event.
        ended: how, "finished" or "abandoned"; empty while it is open.
        at_end: when it ended.
        anchor: the event of its begin, or of the last time that it was resumed, which has what the clocks said.
    """

    id: str
    when: datetime
    minutes: int
    seed: int
    elapsed: float = field(default=0.0, kw_only=True)
    ended: str = field(default="", kw_only=True)
    at_end: datetime | None = field(default=None, kw_only=True)
    anchor: Event = field(init=False, repr=False, compare=False)

    @property
    def began(self) -> str:
        """When, where the learner is."""
        return f"{self.when.astimezone():%Y-%m-%d %H:%M}"

    @property
    def length(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes} minutes"

    @property
    def overtime(self) -> float:
        """Seconds."""
        return max(self.elapsed - 60 * self.minutes, 0.0)

    def add(self, event: Event) -> str | None:
        """Goes on by one event; what happened, in words, where these are kept."""
        self.elapsed = max(self.elapsed, event.body["elapsed"])
        add = getattr(self, f"add_{event.body['what']}", None)  # None: a newer version's
        return add(event.body, event) if add else None

    def add_begin(self, body: dict[str, Any], event: Event) -> str:
        self.anchor = event
        return "begin"

    def add_resume(self, body: dict[str, Any], event: Event) -> str:
        self.anchor = event
        return "resumed"

    def add_end(self, body: dict[str, Any], event: Event) -> str:
        self.ended, self.at_end = body["how"], event.at
        return self.ended


S = TypeVar("S", bound=Sat)


def sat(kind: str, begun: Callable[[Event], S], events: Iterable[Event]) -> list[S]:
    """All of this kind, the oldest first, from all events; `begun` makes one of its first event."""
    found: dict[str, S] = {}
    for event in events:
        if event.kind == kind and event.body["what"] == "begin":
            found[event.body[kind]] = begun(event)
        elif event.kind == kind and event.body[kind] in found:
            found[event.body[kind]].add(event)
    return list(found.values())

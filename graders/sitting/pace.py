"""What is said about the time without being asked: at half time, shortly before the end, and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

SHORTLY = 5 * 60  # seconds before the end
UP = "Time is up. Go on if you like: the report tells how long you went over. `end` ends it here."


@dataclass(frozen=True)
class Word:
    """Something to say once `at` seconds have passed, while the kata of this number is at hand; None: any."""

    at: float
    text: str
    position: int | None = None


def usual(minutes: int) -> list[Word]:
    whole = 60.0 * minutes
    made = [Word(whole, UP)]
    if whole > 2 * SHORTLY:
        made += [Word(whole / 2, "Half of the time has passed."), Word(whole - SHORTLY, "Five minutes are left.")]
    return made


class Pace:
    """Words about the time, each said once; but for the end, none that fell into a time away."""

    def __init__(self, words: Iterable[Word], clock: Callable[[], float], at: Callable[[], int] = lambda: 0) -> None:
        """`at` tells which kata is at hand."""
        self.clock = clock
        self.at = at
        now = clock()
        ordered = sorted(words, key=lambda word: word.at)
        self.waiting = [word for word in ordered if word.at > now or word.text == UP]

    def due(self) -> list[str]:
        """What is to be said now."""
        now, passed = self.clock(), []
        while self.waiting and self.waiting[0].at <= now:
            passed.append(self.waiting.pop(0))
        return [word.text for word in passed if word.position in (None, self.at())]

    def seconds(self) -> float | None:
        """Until there may be something to say; None: there will be nothing."""
        return max(self.waiting[0].at - self.clock(), 0.0) if self.waiting else None

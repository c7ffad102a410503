"""What an interviewer says about the time without being asked: at half time, shortly before the end, and at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from graders.interview.record import InterviewReport

SHORTLY = 5 * 60  # seconds before the end
UP = "Time is up. Go on if you like: what it takes beyond is reported. `end` ends it here."


@dataclass(frozen=True)
class Word:
    """Something to say once `at` seconds have passed, while the kata of this number is at hand; None: any."""

    at: float
    text: str
    position: int | None = None


def words(report: InterviewReport) -> list[Word]:
    """In the order of time."""
    whole, wanted = 60.0 * report.minutes, [one.minutes for one in report.rounds]
    made = [Word(whole, UP)]
    if whole > 2 * SHORTLY:
        made += [Word(whole / 2, "Half of the time has passed."), Word(whole - SHORTLY, "Five minutes are left.")]
    for number, minutes in enumerate(accumulate(wanted[:-1])):
        rest = len(wanted) - number - 1
        waits = "one more kata waits" if rest == 1 else f"{rest} more katas wait"
        text = f"{report.rounds[number].kata} has had its share of the time, and {waits}; `next` goes on."
        made.append(Word(whole * minutes / sum(wanted), text, number))
    return sorted(made, key=lambda word: word.at)


class Pace:
    """The words of one interview, each said once; but for the end, none that fell into a time away."""

    def __init__(self, report: InterviewReport, clock: Callable[[], float]) -> None:
        self.report = report
        self.clock = clock
        now = clock()
        self.waiting = [word for word in words(report) if word.at > now or word.text == UP]

    def due(self) -> list[str]:
        """What is to be said now."""
        now, passed = self.clock(), []
        while self.waiting and self.waiting[0].at <= now:
            passed.append(self.waiting.pop(0))
        return [word.text for word in passed if word.position in (None, self.report.position)]

    def seconds(self) -> float | None:
        """Until there may be something to say; None: there will be nothing."""
        return max(self.waiting[0].at - self.clock(), 0.0) if self.waiting else None

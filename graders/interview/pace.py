"""What an interviewer says about the time without being asked: the usual, and when a kata has had its share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from graders.interview.record import InterviewReport
from graders.sitting.pace import Pace, Word, usual


def words(report: InterviewReport) -> list[Word]:
    whole, wanted = 60.0 * report.minutes, [one.minutes for one in report.rounds]
    made = usual(report.minutes)
    for number, minutes in enumerate(accumulate(wanted[:-1])):
        rest = len(wanted) - number - 1
        waits = "one more kata waits" if rest == 1 else f"{rest} more katas wait"
        text = f"{report.rounds[number].kata} has had its share of the time, and {waits}; `next` goes on."
        made.append(Word(whole * minutes / sum(wanted), text, number))
    return made


def pace_of(report: InterviewReport, clock: Callable[[], float]) -> Pace:
    return Pace(words(report), clock, lambda: report.position)

"""The end of a debug round: each bug as it was and as it is right, what became of it, and what was changed for it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import datetime

from graders.desk import diff
from graders.desk.debugged import WRONG_LINE, DebugRound, PlantedBug, Practice
from graders.desk.status import when
from graders.judge.screen import two_columns
from graders.sitting.clock import in_words, took
from graders.sitting.terminal import Terminal

MOST_CHANGED = 30  # lines, from which on a diff shows nothing any more


def show(terminal: Terminal, report: DebugRound, number: int, practice: Practice | None, at: datetime) -> None:
    """`number` is its place among all rounds, from 1."""
    name = f"{report.program}/{report.kata}.py" if report.program else report.kata
    terminal.heading(f"Report of debug round {number}: {name}")
    terminal.say(f"{report.began}, {report.length}; {took(report)}")
    if not report.ended:
        terminal.say("the bugs are shown once the round is over")
        return
    for place, bug in enumerate(report.bugs, start=1):
        terminal.section(
            f"Bug {place}, line {bug.line}: {bug.points} points", two_columns(rows_of(bug, report.taken_as(bug)))
        )
    terminal.say()
    if not report.bugs:
        terminal.say("No bug was planted in this file.")
    terminal.say(f"Measured: {report.measured} of {report.max_score}", style="bold")
    for line in sums(report):
        terminal.say(f"  {line}")
    if difference := changed(report):
        terminal.say()
        terminal.show(diff.coloured(difference))
    if practice and practice.due:
        terminal.say(f"\na debug round at {report.kata} is due again {when(practice.due, at)}")


def show_ways(terminal: Terminal, reports: Sequence[DebugRound], number: int) -> None:
    """What they come to together, and how to see them again."""
    one = reports[0]
    if not one.ended:
        return
    if len(reports) > 1:
        terminal.heading(f"All {len(reports)} files: {' and '.join(other.kata for other in reports)}")
        bugs = [bug for other in reports for bug in other.bugs]
        became = [f"{what} {sum(getattr(bug, what) is not None for bug in bugs)}" for what in ("found", "explained")]
        became.append(f"mended {sum(other.mended for other in reports)} of {len(bugs)}")
        terminal.say(", ".join(became))
        points = f"{sum(other.measured for other in reports)} of {sum(other.max_score for other in reports)}"
        terminal.say(f"Measured: {points}", style="bold")
    for name, at in [pair for other in reports for pair in other.extended.items()]:
        terminal.say(f"then {name}, solved after {in_words(at)}")
    slow = " --slow" if one.slow else ""
    names, count = " ".join(other.kata for other in reports), sum(len(other.bugs) for other in reports)
    names = f"--symptom {one.program}" if one.program else names
    again = f"nox -s debug -- {names} --bugs {count} --seed {one.seed}{slow}"
    terminal.say(f"the same bugs again:  {again}\nthis report again:  nox -s debug -- --report {number}")


def rows_of(bug: PlantedBug, taken_as: str = "") -> list[tuple[str, str]]:
    """`taken_as`: what was understood of the words that do not explain it."""
    was, right = ("\n".join(line.strip() for line in lines) or "nothing" for lines in (bug.was, bug.right))
    rows = [("was", was), ("right", "the same, in another place" if was == right else right), ("it is", bug.sentence)]
    rows += [("alone", bug.alone)] * bool(bug.alone)
    rows += [("you", words) for words in dict.fromkeys(bug.words)]
    rows += [("taken as", taken_as)] * bool(taken_as)
    return [*rows, ("", became(bug))]


def became(bug: PlantedBug) -> str:
    """`found after 3:10, explained after 3:10, not mended; 1 hint`"""
    times = {"found": bug.found, "explained": bug.explained, "mended": bug.mended}
    told = ", ".join(f"{what} after {in_words(at)}" if at is not None else f"not {what}" for what, at in times.items())
    return told + (f"; {bug.hints} hint{'s' if bug.hints > 1 else ''}" if bug.hints else "")


def sums(report: DebugRound) -> list[str]:
    count = len(report.bugs)
    made = [f"found {report.found}, explained {report.explained}, mended {report.mended} of {count}"]
    if report.wrong:
        lines = "claimed line has" if len(report.wrong) == 1 else "claimed lines have"
        made.append(f"{len(report.wrong)} {lines} no bug: -{WRONG_LINE * len(report.wrong)}")
    if report.pasted:
        made.append("the right file was pasted over the file, which counted for nothing")
    if report.source:
        changed = f"{report.changed} line{'s' if report.changed != 1 else ''} changed, {report.needed} needed"
        made.append(changed + ("; a rewrite mends everything and finds nothing" if is_rewrite(report) else ""))
    return made


def changed(report: DebugRound) -> str:
    """What the learner changed, as a diff; "" where that is nothing, or so much that a diff shows nothing."""
    if not 0 < report.changed <= MOST_CHANGED:
        return ""
    names, pair = ("as it was written", "as you left it"), (report.planted.splitlines(), report.source.splitlines())
    return "\n".join(difflib.unified_diff(*pair, *names, n=0, lineterm=""))


def is_rewrite(report: DebugRound) -> bool:
    return report.mended > report.found and report.changed > 2 * report.needed + 2

"""`history`: the attempts at a kata, which can be looked at and brought back, and its debug rounds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.text import Text

from graders.catalogue import katas
from graders.desk import attempts, diff
from graders.desk.debugged import DebugRound, debug_rounds
from graders.desk.progress import reached
from graders.desk.reset import where_kept
from graders.desk.state import Event, State
from graders.faults import UsageError
from graders.judge import screen
from graders.judge.results import BROKEN


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    state = State(root)
    found = attempts.attempts_of(state, kata)
    every = list(enumerate(debug_rounds(state.events("")), start=1))
    rounds = [(number, one) for number, one in every if one.kata == kata.id]
    for number in (options.number, options.diff):
        if number is not None and not 1 <= number <= len(found):
            there = f"there are 1 to {len(found)}" if found else "there are none yet"
            raise UsageError(f"there is no attempt {number} at {kata.id}; {there}: nox -s history -- {kata.id}")
    if (options.restore or options.diff) and options.number is None:
        option = "--restore" if options.restore else "--diff M"
        raise UsageError(f"{option} needs the attempt's number: nox -s history -- {kata.id} N {option}")
    if options.restore:
        kept = attempts.restore(state, kata, found[options.number - 1])
        print(f"{attempts.shown(kata)} is attempt {options.number} again; {where_kept(state, kata, kept)}")
    elif options.diff is not None:
        one, other = (found[number - 1].body["source"].splitlines() for number in (options.diff, options.number))
        names = (f"attempt {options.diff}", f"attempt {options.number}")
        diff.show(one, other, names, screen.console())
    elif options.number is not None:
        sys.stdout.write(found[options.number - 1].body["source"])
    elif found:
        show(found, kata.id)
        show_rounds(rounds)
    elif rounds:
        show_rounds(rounds)
    else:
        print(f"no attempt at {kata.id} yet: write {attempts.shown(kata)} under\n  nox -s watch -- {kata.id}")
    state.close()
    return 0


def show(found: list[Event], kata: str) -> None:
    made = screen.table("#", "when.", "verdict.", "score", "first failure.")
    made.columns[-1].no_wrap = False  # all that a narrow terminal takes away, it takes from here
    for number, event in enumerate(found, start=1):
        made.add_row(
            str(number),
            f"{event.at.astimezone():%Y-%m-%d %H:%M}",
            reached(event),
            str(event.body["score"]) if event.body["max_score"] else "-",
            Text(first_failure(event), overflow="fold"),
        )
    console = screen.console()
    console.print(made)
    console.print(
        Text(
            f"\nlook at one, compare it with attempt M, bring it back:\n  nox -s history -- {kata} N\n"
            f"  nox -s history -- {kata} N --diff M\n  nox -s history -- {kata} N --restore"
        )
    )


def show_rounds(rounds: list[tuple[int, DebugRound]]) -> None:
    """Each with the number that its report is known by."""
    if not rounds:
        return
    made = screen.table("#", "debug round.", "bugs", "found", "explained", "mended", "points")
    for number, one in rounds:
        counts = (len(one.bugs), one.found, one.explained, one.mended) if one.ended else (len(one.bugs), *"---")
        points = f"{one.measured}/{one.max_score}" if one.ended else "open"
        made.add_row(str(number), f"{one.when.astimezone():%Y-%m-%d %H:%M}", *map(str, counts), points)
    console = screen.console()
    console.print(made)
    console.print(Text("\nlook at one:\n  nox -s debug -- --report N"))


def first_failure(attempt: Event) -> str:
    """As the attempt's card had it."""
    failed, message = attempt.body["failed"], attempt.body["message"] or ""
    if attempt.body["state"] == "error":
        return "could not be imported"
    return "the rules are broken" if message.startswith(BROKEN) else failed[0].partition("/")[2] if failed else ""

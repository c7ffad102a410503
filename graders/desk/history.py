"""`history`: the attempts at a kata; each can be looked at and brought back."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.text import Text

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.reset import where_kept
from graders.desk.state import Event, State
from graders.faults import UsageError
from graders.judge import card


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    state = State(root)
    found = attempts.attempts_of(state, kata)
    if options.number is not None and not 1 <= options.number <= len(found):
        there = f"there are 1 to {len(found)}" if found else "there are none yet"
        raise UsageError(f"there is no attempt {options.number} at {kata.id}; {there}: nox -s history -- {kata.id}")
    if options.restore and options.number is None:
        raise UsageError(f"--restore needs the attempt's number: nox -s history -- {kata.id} N --restore")
    if options.restore:
        kept = attempts.restore(state, kata, found[options.number - 1])
        print(f"{attempts.shown(kata)} is attempt {options.number} again; {where_kept(state, kata, kept is not None)}")
    elif options.number is not None:
        sys.stdout.write(found[options.number - 1].body["source"])
    elif found:
        show(found, kata.id)
    else:
        print(f"no attempt at {kata.id} yet: write {attempts.shown(kata)} under\n  nox -s watch -- {kata.id}")
    state.close()
    return 0


def show(found: list[Event], kata: str) -> None:
    made = card.table("#", "when.", "verdict.", "score", "first failure.")
    made.columns[-1].no_wrap = False  # all that a narrow terminal takes away, it takes from here
    for number, event in enumerate(found, start=1):
        failed = event.body["failed"]
        made.add_row(
            str(number),
            f"{event.at.astimezone():%Y-%m-%d %H:%M}",
            event.body["state"],
            str(event.body["score"]) if event.body["max_score"] else "-",
            Text(failed[0].partition("/")[2] if failed else "", overflow="fold"),
        )
    console = card.console()
    console.print(made)
    console.print(
        Text(f"\nlook at one, bring it back:\n  nox -s history -- {kata} N\n  nox -s history -- {kata} N --restore")
    )

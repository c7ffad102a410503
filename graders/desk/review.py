"""`review`: what is due today by FSRS, from how each kata went; the history's way to another computer and back."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.progress import RATINGS
from graders.desk.state import State
from graders.desk.status import Desk, overview, when
from graders.faults import UsageError
from graders.files import replace_file
from graders.judge import card


def main(options: argparse.Namespace, root: Path) -> int:
    state = State(root)
    console = card.console()
    try:
        if options.export or options.merge:
            exchange(state, options.export, options.merge)
            return 0
        chosen = katas.all_katas(root)
        attempts.bring_all_home(state, chosen)
        desk = overview(state, chosen)
        if not desk.due:
            console.print(Text(nothing(desk)))
        elif options.list:
            show(desk, console)
        else:
            start(state, desk, console, options.todo)
        for note in state.notes:
            console.print(Text(f"note: {note}"))
        return 0
    finally:
        state.close()


def exchange(state: State, export: Path | None, merge: Path | None) -> None:
    """Imports first, so that both together make one file of two. Raises: UsageError."""
    if merge:
        try:
            text = merge.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{merge} cannot be read ({error}); name a file that --export wrote") from None
        print(f"{state.merge(text)} of {len(text.splitlines())} events of {merge} are new here")
    if export:
        replace_file(export.absolute(), state.export())
        print(f"wrote {len(state.events())} events to {export}")


def nothing(desk: Desk) -> str:
    lapsed = [name for name in desk.order if desk.lapsed(name)]
    if lapsed:
        return f"nothing is due today; {lapsed[0]} fails now\n  nox -s watch -- {lapsed[0]}"
    coming = sorted((one.due, one.kata) for one in desk.progress.values() if one.due is not None)
    if coming:
        return f"nothing is due today; next is {coming[0][1]}, {when(coming[0][0], desk.at)}"
    todo = f"\n  nox -s watch -- {desk.next}" if desk.next else ""
    return f"nothing is due: solve a kata first, and it will come back when you are about to forget it{todo}"


def show(desk: Desk, console: Console) -> None:
    made = card.table("kata.", "due.", "last time.")
    for one in desk.due:
        assert one.due is not None
        made.add_row(one.kata, when(one.due, desk.at), RATINGS[one.ratings[-1][1]])
    console.print(made)


def start(state: State, desk: Desk, console: Console, todo: bool) -> None:
    """The one that is due the longest, in a file of its own, unless it was begun already."""
    show(desk, console)
    one = desk.due[0]
    kata = desk.katas[one.kata]
    file = attempts.shown(kata, "review")
    if one.open and one.place == "review" and (kata.root / file).exists():
        console.print(Text(f"\nyou are at {one.kata}: {file} is as you left it"))
    else:
        attempts.begin(state, kata, "review", todo)
        what = "the stub" if todo else "the bare signatures"
        console.print(Text(f"\n{one.kata} first: {file} has {what}, and your answer stays as it is"))
    console.print(
        Text(f"write it from memory while it is judged on every save:\n  nox -s watch -- {one.kata} --review")
    )

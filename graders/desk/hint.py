"""`hint`: one more with every call, from a nudge to nearly the code."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk import progress
from graders.desk.state import State
from graders.judge import screen

COST = "with hints, a kata comes back for review sooner"


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    state = State(root)
    show(kata, state, screen.console(), more=not options.again)
    state.close()
    return 0


def show(kata: Kata, state: State, console: Console, more: bool = True) -> None:
    """The hints that were shown before and, if there is one, the next. Raises: UsageError."""
    hints = texts.hints(kata)
    level = level_of(kata, state, len(hints), more)
    for number, text in enumerate(hints[:level], start=1):
        console.print(Text(f"{kata.id}, hint {number} of {len(hints)}", style="bold"))
        console.print(Markdown(text))
        console.print()
    if not level:
        console.print(Text(f"no hint was shown yet: nox -s hint -- {kata.id}"))
    elif level == len(hints):
        console.print(Text(f"that was the last hint; the answer is in {kata.reference_file.relative_to(kata.root)}"))
    elif more:
        console.print(Text(f"{COST}. Still stuck?\n  nox -s hint -- {kata.id}"))


def level_of(kata: Kata, state: State, most: int, more: bool) -> int:
    """How many hints were shown, the one that is shown now included. Raises: UsageError."""
    known = progress.progress_of(state.events(kata.id), [kata.id])[kata.id].known
    level = min(known + more, most)
    if level > known:
        state.add("hint", kata.id, {"level": level})
    return level

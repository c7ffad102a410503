"""`read`: a kata's statement in the terminal, its formulas drawn in Unicode."""

from __future__ import annotations

import argparse
import functools
import re
from pathlib import Path
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table
from rich.text import Text

from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk import attempts, formulas
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.judge import screen
from graders.judge.spelling import spelled

MARGINS = 2  # columns beside code


class Folding(TableElement):
    """A table whose long words go on below, where Markdown's own cuts them off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for made in super().__rich_console__(console, options):
            for column in made.columns if isinstance(made, Table) else ():
                column.overflow = "fold"
            yield made


class Page(Markdown):
    """Markdown of which a narrow terminal shows all."""

    elements: ClassVar = Markdown.elements | {"table_open": Folding}


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    state = State(root)
    console = screen.console()
    attempts.opened(state, kata, "read")
    show(kata, state, console, options.all)
    if not options.all:
        console.print(Text(f"\nthe full contract and what is graded:\n  nox -s read -- {kata.id} --all"))
    state.close()
    return 0


def show(kata: Kata, state: State, console: Console, everything: bool = False) -> None:
    """The front page or everything, and once the core is right, what an interviewer asks next. Raises: UsageError."""
    text = texts.text_of(kata)
    text = texts.unfolded(text) if everything else texts.front_of(text)
    utf8 = (console.encoding or "").lower().startswith("utf")
    draw = functools.partial(drawn, width=console.width - MARGINS) if utf8 else as_source
    text = spelled(texts.CODE_OR_FORMULA.sub(draw, text), console.encoding)
    console.print(Page(text, code_theme="ansi_dark"))
    if progress_of(state.events(kata.id), [kata.id])[kata.id].core:
        console.print(Text("\nYour mathematics is right. What an interviewer asks next:\n", style="bold"))
        for one in texts.follow_ups(kata):
            console.print(Text(f"- {one.question}"))
        console.print(Text(f"\nthe answers are in {(kata.folder / 'follow_up.md').relative_to(kata.root)}"))


def drawn(found: re.Match[str], width: int = screen.WIDTH - MARGINS) -> str:
    """A formula as lines of text; code stays as it is, and so does what cannot be drawn."""
    block, inline = found["block"], found["inline"]
    try:
        if block:
            return f"```text\n{formulas.lines_of(block, width)}\n```"
        if inline and len(rows := formulas.rows_of(inline)) == 1:
            return rows[0].strip()
    except (KeyError, IndexError, ValueError):  # a command that it does not know
        pass
    return as_source(found)


def as_source(found: re.Match[str]) -> str:
    """A formula in TeX, of which Markdown takes nothing away."""
    block, inline = found["block"], found["inline"]
    return f"```text\n{block.strip()}\n```" if block else f"`{inline}`" if inline else found[0]

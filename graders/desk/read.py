"""`read`: a kata's statement in the terminal, its formulas drawn in Unicode."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text
from texicode.pipeline import init_arts, render_tex_rows

from graders.catalogue import katas
from graders.catalogue import statement as questions
from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.judge import card

# What TeXicode does not know, or puts too near to what comes next.
SPELLINGS = {
    r"\operatorname": r"\mathrm",
    r"\lVert": r"\Vert",
    r"\rVert": r"\Vert",
    r"\log ": r"\log\,",
    r"\exp ": r"\exp\,",
}


def main(options: argparse.Namespace, root: Path) -> int:
    kata = katas.find_one(options.kata, root)
    state = State(root)
    console = card.console()
    attempts.opened(state, kata, "read")
    show(kata, state, console, options.all)
    if not options.all:
        console.print(Text(f"\nthe full contract and what is graded:  nox -s read -- {kata.id} --all"))
    state.close()
    return 0


def show(kata: Kata, state: State, console: Console, everything: bool = False) -> None:
    """The front page or everything, and once the core is right, what an interviewer asks next. Raises: UsageError."""
    text = questions.text_of(kata)
    text = questions.unfolded(text) if everything else questions.front_of(text)
    if (console.encoding or "").lower().startswith("utf"):
        text = questions.CODE_OR_FORMULA.sub(drawn, text)
    console.print(Markdown(text, code_theme="ansi_dark"))
    if progress_of(state.events(kata.id), [kata.id])[kata.id].core:
        console.print(Text("\nYour mathematics is right. What an interviewer asks next:\n", style="bold"))
        for one in questions.follow_ups(kata):
            console.print(Text(f"- {one.question}"))
        console.print(Text(f"\nthe answers are in {(kata.folder / 'follow_up.md').relative_to(kata.root)}"))


def drawn(found: re.Match[str]) -> str:
    """A formula as lines of text; code stays as it is, and so does what cannot be drawn."""
    block, inline = found["block"], found["inline"]
    try:
        if block:
            return "```text\n" + "\n\n".join("\n".join(rows_of(part)) for part in parts(block)) + "\n```"
        if inline and len(rows := rows_of(inline)) == 1:
            return rows[0].strip()
    except (KeyError, IndexError, ValueError):  # a command that it does not know
        pass
    return f"`{inline}`" if inline else found[0]


def parts(formula: str) -> list[str]:
    """One below the other what stands side by side, so that it fits into a terminal."""
    return [formula] if r"\begin" in formula else re.split(r"\\qquad", formula)


def rows_of(formula: str) -> list[str]:
    for spelling, known in SPELLINGS.items():
        formula = formula.replace(spelling, known)
    init_arts({"fonts": "normal"})
    rows = render_tex_rows(" ".join(formula.split()), False)
    if rows[0].startswith("TeXicode:") or ("?" in "".join(rows) and "?" not in formula):  # as it says that it failed
        raise ValueError(rows[0])
    return [row.rstrip() for row in rows]

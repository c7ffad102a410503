"""Judges a notebook's cell, and writes what the notebook shows: python -m graders.notebook.cell FOLDER KATA [OPTION...]

The other side of notebook.py, in a process of its own. The cell is FOLDER/cell.py, the options are those of `grade`.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import sys
from pathlib import Path

from rich.console import Console

from graders import __main__ as commands
from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.state import NOTEBOOK
from graders.faults import FAULT, ROOT
from graders.judge import results
from graders.judge.card import Card, Row, card_of
from graders.judge.reporter import COLOURS, Reporter
from graders.judge.results import Result
from graders.judge.run import DEFAULT_SEED
from graders.judge.screen import WIDTH

SHADES = {"green": "#2e9e44", "cyan": "#16879b", "red": "#d1433f", "yellow": "#b8860b"}  # seen on white and on black
NOT_PYTHON = re.compile(r"SyntaxError: .*\(line \d+: `[%!]")  # but IPython runs it
UNDEFINED = re.compile(r"NameError: name '\w+' is not defined")


def main(argv: list[str], root: Path = ROOT) -> int:
    """Exit status: that of `grade`."""
    folder, arguments = Path(argv[0]), argv[1:]
    cell, written = folder / "cell.py", folder / "results.json"
    seed = [] if "--seed" in arguments else ["--seed", str(DEFAULT_SEED)]  # the cell is the learner's own
    asked = ["grade", *arguments, *seed, "--submission", str(cell), "--shown", "the cell", "--json", str(written)]
    status = commands.main(asked, root)
    if status not in (0, 1, FAULT) or not written.exists():
        return status
    document = json.loads(written.read_text(encoding="utf-8"))
    (result,) = map(Result.from_document, document["results"])
    result.source_text = cell.read_text(encoding="utf-8")
    result.budgeted = katas.find([result.kata], root)[0].reference_file.exists()
    if status != FAULT and not os.environ.get("CI"):
        attempts.record_all(root, [result], document["seed"], NOTEBOOK)
    results.write(folder / "card.json", card(result, document["seed"], document["env"]["isolation"]))
    return status


class CellReporter(Reporter):
    """Names the commands that are typed in a notebook."""

    def commands(self, card: Card) -> list[Row]:
        """A cell is run where it stands."""
        return [row for row in super().commands(card) if row[0] != "debug"]

    def rerun(self, card: Card) -> str:
        return super().rerun(card).replace("nox -s grade -- ", "%%kata ")


def card(result: Result, seed: int, isolation: str) -> dict[str, str]:
    """By MIME type."""
    plain = io.StringIO()
    console = Console(file=plain, width=WIDTH, force_terminal=False, color_system=None, highlight=False)
    reporter = CellReporter(seed, console)
    found = card_of(result)
    rows = [*reporter.rows(found), *(("cost", words) for words in found.costs)]
    if any(UNDEFINED.search(outcome.message or "") for outcome in result.outcomes):
        rows.append(("note", "a cell is judged on its own: import and define in it all that it uses"))
    if NOT_PYTHON.search(result.message or ""):
        rows.append(("note", "a cell is judged as plain Python: put lines that begin with % or ! into another cell"))
    if isolation != "full":
        rows.append(("isolation", f"{isolation}; this system cannot isolate submissions fully, see SECURITY.md"))
    headline = reporter.headline(found)
    reporter.say(headline)
    if rows:
        reporter.show_rows(rows)
    text = "\n".join(line.rstrip() for line in plain.getvalue().splitlines()).rstrip()
    return {"text/plain": text, "text/html": page(headline.plain, rows, SHADES[COLOURS[result.reached]])}


def page(headline: str, rows: list[tuple[str, str]], colour: str) -> str:
    """The colours of the text and of what is behind it are the notebook's."""
    word, _, rest = headline.partition(" ")
    facts = "".join(
        f'<dt style="margin:0;font-weight:normal;opacity:.75">{html.escape(label)}</dt>'
        f'<dd style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">{html.escape(fact)}</dd>'
        for label, fact in rows
    )
    grid = "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0 1.2em;margin:.2em 0 0"
    return (
        f'<div style="border-left:4px solid {colour};padding:.2em .8em;font-family:monospace;line-height:1.4">'
        f'<div style="white-space:pre-wrap"><strong>{html.escape(word)}</strong> {html.escape(rest.rstrip())}</div>'
        f'<dl style="{grid}">{facts}</dl></div>'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

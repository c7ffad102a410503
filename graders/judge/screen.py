"""The terminal that all commands write to: 80 columns or what it has, and tables that fit into it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDTH = 80
FOLDED = 20  # columns, below which folded words cannot be read


class Screen(Console):
    """A console that stops the work, as Ctrl-C does, when nobody reads what it says any more: `nox -s grade | head`."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        raise KeyboardInterrupt


def console(stderr: bool = False) -> Console:
    """80 columns or what the terminal has; colour only on a terminal and without NO_COLOR."""
    made = Screen(file=sys.stderr if stderr else sys.stdout, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH
    return made


class Fitting(Table):
    """A table that gives each row lines of its own where the terminal is too narrow for its columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.needed <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        for first, *rest in zip(*(column.cells for column in self.columns), strict=True):
            yield first
            cells = zip(self.columns[1:], map(str, rest), strict=True)
            facts = [f"{column.header} {cell}".strip() for column, cell in cells if cell not in ("", "-")]
            if facts:
                yield Padding(Text(", ".join(facts)), (0, 0, 0, 4))

    @property
    def needed(self) -> int:
        """Its width; what may be folded counts for no more than FOLDED."""
        longest = [max(cell_len(str(cell)) for cell in (column.header, *column.cells)) for column in self.columns]
        pairs = zip(longest, self.columns, strict=True)
        _, right, _, left = self.padding
        return sum(left + right + (width if column.no_wrap else min(width, FOLDED)) for width, column in pairs)


def table(*headings: str) -> Table:
    """Numbers stand to the right; headings that end in a dot are of words."""
    made = Fitting(box=None, padding=(0, 1))
    for heading in headings:
        made.add_column(heading.rstrip("."), justify="left" if heading.endswith(".") else "right", no_wrap=True)
    return made


def two_columns(rows: Iterable[tuple[str, str]]) -> Table:
    """Labels and texts; a text is folded."""
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for label, text in rows:
        made.add_row(label, Text(text))
    return made

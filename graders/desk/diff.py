"""What differs between two versions of an answer, in the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text


def show(one: Sequence[str], other: Sequence[str], names: tuple[str, str], console: Console) -> None:
    console.print(drawn(one, other, names))


def drawn(one: Sequence[str], other: Sequence[str], names: tuple[str, str]) -> Syntax | Text:
    lines = list(difflib.unified_diff(one, other, *names, lineterm=""))
    return coloured("\n".join(lines)) if lines else Text("no difference")


def coloured(difference: str) -> Syntax:
    return Syntax(difference, "diff", theme="ansi_dark", word_wrap=True)

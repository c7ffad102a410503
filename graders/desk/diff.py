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
    found = lines(one, other, names)
    return coloured(found) if found else Text("no difference")


def lines(one: Sequence[str], other: Sequence[str], names: tuple[str, str]) -> str:
    """As `diff -u` says it; "" where there is no difference."""
    return "\n".join(difflib.unified_diff(one, other, *names, lineterm=""))


def between(one: str, other: str, names: tuple[str, str]) -> str:
    """How two whole texts differ, line by line; in words where they do not."""
    return lines(one.splitlines(), other.splitlines(), names) or "no difference"


def coloured(difference: str) -> Syntax:
    return Syntax(difference, "diff", theme="ansi_dark", word_wrap=True)

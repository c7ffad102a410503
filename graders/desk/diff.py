"""What differs between two versions of an answer, in the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text


def show(one: Sequence[str], other: Sequence[str], names: tuple[str, str], console: Console) -> None:
    lines = list(difflib.unified_diff(one, other, *names, lineterm=""))
    if lines:
        console.print(Syntax("\n".join(lines), "diff", theme="ansi_dark", word_wrap=True))
    else:
        console.print(Text("no difference"))

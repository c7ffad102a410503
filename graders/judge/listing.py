"""What a scenario does, on a card: its code, folded to the lines that the failure is about."""

from __future__ import annotations

import re

MOST_LINES = 4  # that are shown whole
FOLD = "…"
LITERAL = re.compile(r"\"([^\"]+)\"")


def split(call: str) -> tuple[str, str]:
    """The call itself, and the code below it where it is a scenario's."""
    first, _, code = call.partition("\n")
    return first, code


def folded(code: str, message: str) -> str:
    """Few lines whole; of more, those that name what the message begins with, or where none does, the first."""
    lines = code.splitlines()
    if len(lines) <= MOST_LINES:
        return code
    subject = message.partition(": ")[0]
    named = [name for name in LITERAL.findall(code) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", subject)]
    if not named:
        return "\n".join([*lines[: MOST_LINES - 1], FOLD])
    wanted = f'"{max(named, key=len)}"'
    shown = [line if wanted in line else FOLD for line in lines]
    return "\n".join(line for line, before in zip(shown, ["", *shown], strict=False) if line != FOLD or before != FOLD)

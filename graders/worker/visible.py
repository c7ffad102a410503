"""Text of a submission's, as it may be shown: in a terminal, a log of a workflow, a page, a document."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 500  # characters
WHOLE = 1 << 30  # uncut
UNUSUAL = re.compile(r"[^\n\t -~]")
# What GitHub's runner takes for a command, wherever a line is broken: `::error::…`, `##[error]…`. `[: :step]` is still
# Python, and torch's own operators keep their names.
COMMAND = re.compile(r"(?<! aten:)(?<=:)(?=:[A-Za-z])|(?<=#)(?=#\w*\[)")


def visible(text: str, longest: int = LONGEST) -> str:
    """The text without what could steer a reader or a program: characters that cannot be seen become their escapes.

    Lines and tabs stay. What is too long is cut.
    """
    shown = UNUSUAL.sub(escaped, text[: longest + 1].replace("\r\n", "\n"))
    if ":" in shown or "#" in shown:
        shown = COMMAND.sub(" ", shown)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def escaped(found: re.Match[str]) -> str:
    """`\\x1b`, `\\u202e`, … for control characters, those that turn the direction of text, and half ones."""
    one = found[0]
    if unicodedata.category(one)[0] != "C" and one not in "\u2028\u2029":
        return one
    return one.encode("unicode_escape").decode()

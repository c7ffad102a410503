"""One writer for each format: whatever a learner has named or written gets into a file or a terminal through these."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from graders.pages import HERE
from graders.worker.visible import WHOLE, visible

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # a spreadsheet begins one so, also in full width
# What Markdown might make something of; not what stands between letters, but for addresses that become links.
SPEAKS = re.compile(r"(?i)((?<!www)(?<=[^\W_])[-._](?=[^\W_])|[,'/])|[!-/:-@\[-`{-~]")


def one_line(text: str) -> str:
    """In one line, and harmless in a terminal: a name may have line breaks or escapes in it, or be no UTF-8."""
    broken = text.encode(errors="replace").decode().replace("\n", "\\n").replace("\t", "\\t")
    return visible(broken, WHOLE)


def as_csv(rows: Sequence[Sequence[object]]) -> str:
    """A line for each row, and nothing that a spreadsheet would take for a formula. Numbers stay numbers."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([cell(one) for one in row] for row in rows)
    return text.getvalue()


def cell(content: object) -> object:
    if not isinstance(content, str):
        return content
    shown = one_line(content)
    return f"'{shown}" if FORMULA.match(shown) else shown


def markdown(text: str) -> str:
    """In one line, and as it stands: without links, pictures, tags or lists."""
    line = " ".join(one_line(text).split())
    return SPEAKS.sub(lambda found: found[0] if found[1] else f"\\{found[0]}", line)


def fenced(text: str) -> list[str]:
    """Lines of Markdown that show the text letter by letter."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *text.splitlines(), fence]


def html(template: Path, **values: Any) -> str:
    """A page whose values are all escaped, and which may include the tokens that all pages share."""
    folders = jinja2.FileSystemLoader([template.parent, HERE])
    made = jinja2.Environment(loader=folders, autoescape=True, undefined=jinja2.StrictUndefined)
    return made.get_template(template.name).render(**values)

"""What is shown in a terminal, as HTML: the same texts and tables, in the page's own letters. All of it is escaped."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Column, Table
from rich.text import Text

from graders.desk.others import about
from graders.judge.screen import Fitting
from graders.worker.visible import WHOLE, visible

WIDTH = 72  # columns, of what a program prints
TYPED = re.compile(r"`([^`\n]+)`")


def console() -> Console:
    """Writes nowhere; what is drawn asks it for its width."""
    return Console(file=io.StringIO(), width=WIDTH, highlight=False, color_system=None, legacy_windows=False)


def html(what: RenderableType, on: Console) -> str:
    """Raises: TypeError for what is never shown in a sitting."""
    if isinstance(what, Padding):
        return html(what.renderable, on)
    if isinstance(what, Table):
        return table(what, on)
    if isinstance(what, Syntax):
        return printed(what.highlight(what.code.rstrip("\n")), on)
    if isinstance(what, Text):
        return printed(what, on)
    if isinstance(what, str):
        return printed(Text(what), on)
    raise TypeError(f"a {type(what).__name__} cannot be shown in a page")


def folded(file: Path) -> str:
    """Python, below its first words."""
    code = html(Syntax(file.read_text(encoding="utf-8"), "python", theme="ansi_dark"), console())
    return f"<details><summary>{escape(about(file))}</summary>{code}</details>"


def printed(text: Text, on: Console) -> str:
    """As it stands; "" for none. Several lines may be a drawing, which is not broken anew."""
    several = ' class="whole"' if "\n" in text.plain.strip("\n") else ""
    return f'<pre{several} tabindex="0">{spans(text, on)}</pre>' if text.plain.strip() else ""


def words(text: str, style: str = "", tag: str = "p") -> str:
    """A sentence or several, with what can be typed set off; "" for none."""
    text = visible(text, WHOLE).strip("\n")
    made = TYPED.sub(r"<code>\1</code>", escape(text))
    return f'<{tag} class="{escape(style)}">{made}</{tag}>' if text else ""


def table(what: Table, on: Console) -> str:
    """What may be folded anywhere is code, but for tables that choose how wide they are."""
    columns = what.columns
    head = "".join(f'<th scope="col"{kind(one)}>{cell(one.header, on)}</th>' for one in columns)
    rows = "".join(f"<tr>{row(columns, cells, on)}</tr>" for cells in zip(*(one.cells for one in columns), strict=True))
    titled = what.show_header and any(str(one.header) for one in columns)
    top = f"<thead><tr>{head}</tr></thead>".replace('<th scope="col"></th>', "<td></td>") if titled else ""
    code = ' class="code"' if columns[-1].overflow == "fold" and not isinstance(what, Fitting) else ""
    return f'<div class="scroll" tabindex="0"><table{code}>{top}<tbody>{rows}</tbody></table></div>'


def row(columns: list[Column], cells: tuple[RenderableType, ...], on: Console) -> str:
    """The first cell names it, unless it is empty."""
    first, *rest = (cell(one, on) for one in cells)
    made = f'<th scope="row"{kind(columns[0])}>{first}</th>' if first else "<td></td>"
    return made + "".join(f"<td{kind(column)}>{text}</td>" for column, text in zip(columns[1:], rest, strict=True))


def kind(column: Column) -> str:
    return ' class="number"' if column.justify == "right" else ""


def cell(what: RenderableType, on: Console) -> str:
    return TYPED.sub(r"<code>\1</code>", spans(what if isinstance(what, Text) else Text(str(what)), on))


def spans(text: Text, on: Console) -> str:
    """With a class for each style that the page knows."""
    made = []
    for segment in text.render(on, end=""):
        names, shown = classes(segment.style), escape(visible(segment.text, WHOLE))
        made.append(f'<span class="{names}">{shown}</span>' if names else shown)
    return "".join(made)


def classes(style: Style | None) -> str:
    """`bold red`: never words of a submission, since a style is the engine's or a highlighter's."""
    if style is None:
        return ""
    colour = style.color.name.removeprefix("bright_") if style.color and not style.color.is_default else ""
    known = [colour] if colour.isalpha() else []
    return " ".join(known + [name for name in ("bold", "dim", "italic") if getattr(style, name)])

"""What the pages for people have in common: their looks, and text that is shown as it stands."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from graders.worker.visible import WHOLE, visible

HERE = Path(__file__).parent


def environment(folder: Path) -> jinja2.Environment:
    """Templates of that folder, which may include page.css; all that they are given is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=readable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"day": day, "minute": minute, "name": breakable, "markdown": markdown}
    return made


def readable(value: Any) -> Any:
    """What a page cannot show is made visible; all else is escaped by Jinja."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, WHOLE)
    return value


def markdown(text: str, line: bool = False) -> Markup:
    """Text of ours, or a line of it; what looks like HTML in it is shown as it stands."""
    reader = MarkdownIt("commonmark", {"html": False})
    return Markup(reader.renderInline(text) if line else reader.render(text))


def breakable(name: str) -> Markup:
    """A long name may be broken after each of its words."""
    return Markup("_<wbr>").join(escape(readable(word)) for word in name.split("_"))


def day(at: date) -> Markup:
    local = at.astimezone() if isinstance(at, datetime) else at
    return Markup('<time datetime="{:%Y-%m-%d}">{}\u00a0{:%b}\u00a0{:%Y}</time>').format(local, local.day, local, local)


def minute(at: datetime) -> Markup:
    local = at.astimezone()
    shown = f"{local.day}\u00a0{local:%b}\u00a0{local:%Y}, {local:%H:%M}"
    return Markup('<time datetime="{}">{}</time>').format(local.isoformat(timespec="minutes"), shown)

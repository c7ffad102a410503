"""What all pages share: the katas, the history, the runner, and how a page begins."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from html import escape
from pathlib import Path

from fastapi.responses import HTMLResponse
from markupsafe import Markup
from nicegui import ui

from graders import pages
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import review, status
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile
from graders.faults import GraderError, UsageError
from graders.web import HERE
from graders.web.cards import TEMPLATES
from graders.web.editor import say
from graders.web.runner import Runner

KEYS = {
    "Ctrl-Enter": "runs, submits, or tries a call",
    "Escape": "stops a run; then Tab leaves the editor",
    "Ctrl-Space": "completes a name, as typing does",
    "Ctrl-/": "makes lines comments, or code again",
    "Tab, Shift-Tab": "indents more, or less",
    "Alt-↑, Alt-↓": "moves lines",
    "Ctrl-D": "selects the next of the same",
    "Ctrl-F": "searches and replaces",
    "Ctrl-Z, Ctrl-Y": "takes back, does again",
    "← →": "moves the line between two parts, where it has the focus",
    "?": "shows these keys, outside of the editor",
}
PAGES = {"Map": "/", "Interview": "/interview", "Debug": "/debug", "Report": "/report"}
STYLE = "".join(file.read_text("utf-8") for file in (pages.HERE / "tokens.css", HERE / "web.css"))
HEAD = f"<style>{STYLE}</style><script>{(HERE / 'page.js').read_text('utf-8')}</script>"


class Site:
    """Made once for all pages, which share a thread."""

    def __init__(self, runner: Runner, root: Path, prefix: str) -> None:
        self.runner = runner
        self.root = root
        self.prefix = prefix
        self.katas: dict[str, Kata] = {kata.id: kata for kata in katas.all_katas(root)}
        self.names = frozenset(self.katas)

    @functools.cached_property
    def state(self) -> State:
        return State(self.root)

    def overview(self) -> status.Desk:
        return status.overview(self.state, list(self.katas.values()))

    def file(self, name: str, via: str) -> AnswerFile | None:
        """Only the answer files of known katas can be written: the learner's own, and that of a review."""
        kata = self.katas.get(name)
        file = AnswerFile(kata, review.VIA if via == review.VIA else "web") if kata else None
        return file if file and (file.via != review.VIA or file.path.exists()) else None

    def begin_review(self, name: str) -> str:
        """Its page. Raises: UsageError."""
        review.open_next(self.state, self.overview(), name)
        return f"/kata/{name}?via={review.VIA}"

    def page(self, title: str, body: str, status: int = 200, here: str = "") -> HTMLResponse:
        """A page that stays as it is, and so needs neither NiceGUI's scripts nor a socket: it is there at once."""
        made = TEMPLATES.get_template("page.html.jinja").render(
            title=title, head=Markup(HEAD), body=Markup(body), pages=PAGES, prefix=self.prefix, here=here
        )
        return HTMLResponse(made, status)

    def guarded(self, made: Callable[[], str]) -> str:
        """HTML, or why there is none."""
        try:
            return made()
        except (UsageError, GraderError) as error:
            return trouble(error)


def trouble(error: Exception | str) -> str:
    return f'<p class="trouble">{escape(str(error))}</p>'


def heading(site: Site, title: str, here: str = "") -> ui.element:
    """Of a page that NiceGUI makes: the style, the script, and the bar with the way to the other pages."""
    ui.add_head_html(f"{HEAD}<script>katas.prefix = {json.dumps(site.prefix)}</script>")
    ui.page_title(f"{title} · Katas")
    ui.on_exception(lambda error: say(str(error)) if isinstance(error, UsageError) else None)
    way = TEMPLATES.get_template("top.html.jinja").render(pages=PAGES, prefix=site.prefix, here=here)
    with ui.element("header").classes("top") as bar:
        ui.html(way, sanitize=False).classes("way")
        ui.html(escape(title), tag="h1", sanitize=False).classes("here")
        ui.html(TEMPLATES.get_template("keys.html.jinja").render(keys=KEYS), sanitize=False)
    return bar

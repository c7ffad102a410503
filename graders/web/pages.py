"""The pages, and which address leads to which."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from nicegui import app as inner
from nicegui import ui

from graders.catalogue import katas, texts
from graders.catalogue.katas import LEVELS, Kata
from graders.desk import status
from graders.desk.state import State
from graders.faults import UsageError
from graders.report.page import MARKS, WORDS, page_of
from graders.web import HERE, around
from graders.web.cards import TEMPLATES, fact
from graders.web.practice import Practice
from graders.web.runner import Runner
from graders.web.site import PAGES, Site, trouble
from graders.web.sittings import Held
from graders.web.statement import rules


def application(runner: Runner, held: Sequence[Held], root: Path, prefix: str) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    site = Site(runner, root, prefix)

    @app.get("/report")
    def show_report() -> HTMLResponse:  # in a thread of its own: it imports every grader
        state = State(root)
        try:
            chosen, address = list(site.katas.values()), lambda file: f"{prefix}/kata/{file.parent.name}"
            others = {name: f"{prefix}{where}" for name, where in PAGES.items()}
            return HTMLResponse(site.guarded(lambda: page_of(state, chosen, address, others)))
        finally:
            state.close()

    # These make no use of what NiceGUI keeps; `async` has them share the thread of the pages that do.
    @app.get("/")
    async def show_map(order: str = "") -> HTMLResponse:
        return site.page("Katas", site.guarded(lambda: map_page(site, order == "asked")), here="Map")

    @app.post("/review/{name}")
    async def begin_review(name: str) -> Response:
        known(site, name)
        return led_on(site, "Review", lambda: site.begin_review(name))

    @app.get("/rules")
    async def show_rules() -> HTMLResponse:
        return site.page("Rules", site.guarded(lambda: f'<div class="box text">{rules()}</div>'))

    @app.get("/vim.js")
    async def send_vim() -> FileResponse:
        return FileResponse(HERE / "vim.js", media_type="text/javascript")

    @ui.page("/kata/{name}")
    def show_kata(name: str, via: str = "") -> Any:
        file = site.file(name, via)
        if file is None:
            return nowhere(site, name)
        Practice(site, file)
        return None

    async def show_nothing(request: Request, error: Exception) -> Response:
        return nowhere(site, str(request.path_params.get("name", "")))

    async def show_trouble(request: Request, error: Exception) -> Response:
        return site.page("Katas", trouble(error), 500)

    for one in (app, inner):  # the latter has the pages that NiceGUI makes, and is asked for what the former lacks
        one.add_exception_handler(404, show_nothing)
        one.add_exception_handler(RequestValidationError, show_nothing)  # /history/scale?number=x
        one.add_exception_handler(UsageError, show_trouble)
    for each in held:
        around.add(app, site, each)
    ui.run_with(
        app,
        title="Katas",
        dark=None,
        language="en-US",
        tailwind=False,
        gzip_middleware_factory=None,
        binding_refresh_interval=None,
        show_welcome_message=False,
        reconnect_timeout=10,
    )
    return app


def known(site: Site, name: str) -> Kata:
    if name not in site.katas:
        raise HTTPException(404)
    return site.katas[name]


def nowhere(site: Site, name: str) -> Response:
    """For an address that leads to nothing; `name` is the kata that it names, if it does: an alias leads to it."""
    words = "There is nothing at this address. The map has all katas."
    if name and name not in site.katas:
        try:
            return RedirectResponse(f"{site.prefix}/kata/{katas.find_one(name, site.root).id}", 303)
        except UsageError as error:
            words = str(error)
    return site.page("Not found", trouble(words), 404)


def led_on(site: Site, title: str, act: Callable[[], str]) -> Response:
    """Does what a button is for, and leads to the page that it tells; else to one that says why not."""
    try:
        return RedirectResponse(f"{site.prefix}{act()}", 303)
    except UsageError as error:
        return site.page(title, trouble(error))


def map_page(site: Site, asked: bool) -> str:
    desk = site.overview()
    return TEMPLATES.get_template("map.html.jinja").render(
        desk=desk,
        groups=status.groups(desk, asked, list(desk.katas.values())),
        levels={level: counts for level in LEVELS if (counts := counted(desk, level))[-1]},
        solved=[name for name, one in desk.progress.items() if one.solved],
        facts={name: fact(desk, name) for name in desk.katas},
        summaries={name: summary(kata) for name, kata in desk.katas.items()},
        asked=asked,
        words=WORDS,
        marks=MARKS,
        prefix=site.prefix,
    )


def counted(desk: status.Desk, level: int) -> tuple[int, int, int]:
    """How many katas of a level are solved, of how many others the core is right, and how many there are."""
    found = [desk.progress[name] for name, kata in desk.katas.items() if kata.about.level == level]
    solved = sum(bool(one.solved) for one in found)
    return solved, sum(one.core and not one.solved for one in found), len(found)


@functools.cache
def summary(kata: Kata) -> str:
    """The first sentence of its statement. Raises: UsageError."""
    paragraphs = texts.text_of(kata).split("\n\n")
    paragraph = next((one for one in paragraphs if one[:1].isalpha()), "")
    return re.split(r"(?<=[.?!])\s", paragraph, maxsplit=1)[0].replace("\n", " ")

"""The pages, and which address leads to which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from nicegui import app as inner
from nicegui import ui

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import attempts, status
from graders.desk.diff import between
from graders.desk.history import first_failure
from graders.desk.progress import reached
from graders.desk.state import State
from graders.faults import UsageError
from graders.report.page import MARKS, VERDICTS, WORDS, Links, page_of
from graders.web import HERE, around
from graders.web.cards import TEMPLATES
from graders.web.practice import Practice
from graders.web.runner import Runner
from graders.web.site import Site, trouble
from graders.web.sittings import Held
from graders.web.statement import rules


def application(runner: Runner, held: Sequence[Held], root: Path, prefix: str) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    site = Site(runner, root, prefix)

    @app.get("/report")
    def show_report() -> HTMLResponse:  # in a thread of its own: it imports every grader
        state = State(root)
        links = {name: Links(f"{prefix}/kata/{name}", f"{prefix}/kata/{name}") for name in site.katas}
        try:
            return HTMLResponse(site.guarded(lambda: page_of(state, list(site.katas.values()), links, f"{prefix}/")))
        finally:
            state.close()

    # These make no use of what NiceGUI keeps; `async` has them share the thread of the pages that do.
    @app.get("/")
    async def show_map(order: str = "") -> HTMLResponse:
        return site.page("Katas", site.guarded(lambda: map_page(site, order == "asked")))

    @app.post("/review/{name}")
    async def begin_review(name: str) -> Response:
        known(site, name)
        return led_on(site, "Review", lambda: site.begin_review(name))

    @app.get("/history/{name}")
    async def show_history(name: str, number: int = 0, beside: str = "") -> HTMLResponse:
        kata = known(site, name)
        made = site.guarded(lambda: history_page(site, kata, number, beside))
        return site.page(f"History of {kata.about.title}", made)

    @app.post("/history/{name}")
    async def restore(name: str, number: int) -> Response:
        kata = known(site, name)
        return led_on(site, f"History of {kata.about.title}", lambda: brought_back(site, kata, number))

    @app.get("/rules")
    async def show_rules() -> HTMLResponse:
        return site.page("Rules", site.guarded(lambda: f'<div class="text">{rules()}</div>'))

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
    groups = status.groups(desk, asked, list(desk.katas.values()))
    rows = {name: status.row(desk, name) for name in desk.katas}
    template = TEMPLATES.get_template("map.html.jinja")
    return template.render(
        desk=desk, groups=groups, asked=asked, words=WORDS, marks=MARKS, rows=rows, prefix=site.prefix
    )


def history_page(site: Site, kata: Kata, number: int, beside: str) -> str:
    """The attempts at a kata; one of them, what it differs in from another, and a way to bring it back."""
    found = attempts.attempts_of(site.state, kata)
    solved = bool(site.overview().progress[kata.id].solved) and kata.reference_file.exists()
    text = found[number - 1].body["source"] if 1 <= number <= len(found) else ""
    if text and beside == "reference" and solved:
        text = between(text, kata.reference_file.read_text("utf-8"), (f"attempt {number}", "the reference"))
    elif text and beside.isdecimal() and 1 <= int(beside) <= len(found):
        other = found[int(beside) - 1].body["source"]
        text = between(other, text, (f"attempt {beside}", f"attempt {number}"))
    rows = [(count, event, VERDICTS[reached(event)], first_failure(event)) for count, event in enumerate(found, 1)]
    template = TEMPLATES.get_template("history.html.jinja")
    return template.render(
        kata=kata, rows=rows[::-1], prefix=site.prefix, solved=solved, number=number, text=text, found=len(found)
    )


def brought_back(site: Site, kata: Kata, number: int) -> str:
    """The kata's page, with an attempt in the place of its file. Raises: UsageError."""
    found = attempts.attempts_of(site.state, kata)
    if not 1 <= number <= len(found):
        raise HTTPException(404)
    attempts.restore(site.state, kata, found[number - 1])
    return f"/kata/{kata.id}"

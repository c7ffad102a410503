"""The pages, and which address leads to which."""

from __future__ import annotations

import functools
from pathlib import Path

from fastapi import FastAPI, HTTPException
from fastapi.responses import HTMLResponse
from nicegui import ui

from graders.desk import attempts, status
from graders.desk.diff import between
from graders.desk.history import first_failure
from graders.desk.progress import reached
from graders.desk.state import State
from graders.faults import UsageError
from graders.report.page import MARKS, VERDICTS, WORDS, Links, page_of
from graders.web.cards import TEMPLATES
from graders.web.practice import Practice, button
from graders.web.runner import Runner
from graders.web.site import Site, heading
from graders.web.statement import rules


def application(runner: Runner, root: Path, prefix: str) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    site = Site(runner, root, prefix)

    @app.get("/report")
    def show_report() -> HTMLResponse:  # in a thread of its own: it imports every grader
        state = State(root)
        links = {name: Links(f"{prefix}/kata/{name}", f"{prefix}/kata/{name}") for name in site.katas}
        try:
            return HTMLResponse(site.guarded(lambda: page_of(state, list(site.katas.values()), links)))
        finally:
            state.close()

    @ui.page("/")
    def show_map() -> None:
        map_page(site)

    @ui.page("/kata/{name}")
    def show_kata(name: str, via: str = "") -> None:
        file = site.file(name, via)
        if file is None:
            raise HTTPException(404)
        Practice(site, file)

    @ui.page("/history/{name}")
    def show_history(name: str, number: int = 0, beside: str = "") -> None:
        if name not in site.katas:
            raise HTTPException(404)
        history_page(site, name, number, beside)

    @ui.page("/rules")
    def show_rules() -> None:
        heading(site, "Rules")
        with ui.element("div").classes("page text"):
            ui.html(site.guarded(lambda: rules(root)), sanitize=False)

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


def map_page(site: Site) -> None:
    desk = site.overview()
    heading(site, "Katas")
    with ui.element("div").classes("page"):
        ui.label(f"{desk.counted}; best scores {sum(one.best for one in desk.progress.values())} points")
        with ui.element("p").classes("tools"):
            if desk.next:
                ui.link(f"Next: {desk.katas[desk.next].about.title}", f"/kata/{desk.next}").classes("first")
            for one in desk.due:
                begin = functools.partial(site.begin_review, one.kata)
                button(f"Review {desk.katas[one.kata].about.title}", begin)
        groups: dict[str, list[str]] = {}
        for name in desk.order:
            groups.setdefault(desk.katas[name].topic, []).append(name)
        rows = {name: status.row(desk, name) for name in desk.katas}
        template = TEMPLATES.get_template("map.html.jinja")
        made = template.render(desk=desk, groups=groups, words=WORDS, marks=MARKS, rows=rows, prefix=site.prefix)
        ui.html(made, sanitize=False)


def history_page(site: Site, name: str, number: int, beside: str) -> None:
    """The attempts at a kata; one of them, what it differs in from another, and a way to bring it back."""
    kata = site.katas[name]
    found = attempts.attempts_of(site.state, kata)
    heading(site, f"History of {kata.about.title}")
    with ui.element("div").classes("page"):
        ui.link("Back to the kata", f"/kata/{name}")
        template = TEMPLATES.get_template("history.html.jinja")
        solved = bool(site.overview().progress[name].solved)
        rows = [
            (count, event, VERDICTS[reached(event)], first_failure(event)) for count, event in enumerate(found, start=1)
        ]
        ui.html(template.render(kata=kata, rows=rows[::-1], prefix=site.prefix, solved=solved), sanitize=False)
        if not 1 <= number <= len(found):
            return
        text = found[number - 1].body["source"]
        with ui.element("section"):
            ui.html(f"Attempt {number}", tag="h2", sanitize=False)
            button("Bring it back", lambda: restore(site, name, number))
            if beside == "reference" and solved:
                text = between(text, kata.reference_file.read_text("utf-8"), (f"attempt {number}", "the reference"))
            elif beside.isdecimal() and 1 <= int(beside) <= len(found):
                other = found[int(beside) - 1].body["source"]
                text = between(other, text, (f"attempt {beside}", f"attempt {number}"))
            ui.label(text).classes("code-text").props("tabindex=0")


def restore(site: Site, name: str, number: int) -> None:
    kata = site.katas[name]
    try:
        attempts.restore(site.state, kata, attempts.attempts_of(site.state, kata)[number - 1])
    except UsageError as error:
        ui.notify(str(error))
        return
    ui.navigate.to(f"/kata/{name}")

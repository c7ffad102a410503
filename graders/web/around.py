"""What is around a sitting: the form that begins one, and the reports of those that were."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from nicegui import ui

from graders.catalogue.katas import LEVELS, sets
from graders.catalogue.programs import MOST_IN_A_PROGRAM, programs
from graders.desk.state import State
from graders.faults import UsageError
from graders.interview.session import debrief_file
from graders.pages import markdown
from graders.sitting.options import topics
from graders.sitting.session import still_open
from graders.web.cards import TEMPLATES
from graders.web.chat import Transcript
from graders.web.site import Site
from graders.web.sitting import SittingPage
from graders.web.sittings import Held, arguments

MINUTES = 45
ABOUT = {
    "interview": "An interviewer asks you to write one to three katas, as in nox -s interview: you ask what the task "
    "leaves open, tell your plan, write and test the code, and answer questions. A clock runs.",
    "debug": "Known mistakes are planted in a right answer, as in nox -s debug: you find, explain and mend them. In a "
    "symptom round they are planted in the files of a program that you can run. A clock runs.",
}


def add(app: FastAPI, site: Site, held: Held) -> None:
    """Its addresses."""
    title, here = held.kind.noun.capitalize(), held.name.capitalize()

    @ui.page(f"/{held.name}")
    def show() -> Any:
        if not held.goes_on:
            return site.page(title, form(site, held), here=here)
        SittingPage(site, held)
        return None

    @app.post(f"/{held.name}")
    async def begin(request: Request) -> Response:
        fields = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        try:
            held.begin(arguments(held.name, fields), site.state)
        except UsageError as error:
            return site.page(title, form(site, held, str(error), fields), here=here)
        return RedirectResponse(f"{site.prefix}/{held.name}", 303)

    @app.get(f"/{held.name}/{{number}}")
    def show_report(number: int) -> HTMLResponse:  # in a thread of its own: it reads much, and may import a library
        return site.page(f"{title} {number}", site.guarded(lambda: report(site, held, number)), here=here)


def form(site: Site, held: Held, trouble: str = "", given: Mapping[str, str] = MappingProxyType({})) -> str:
    """`given` is what was filled in."""
    past = held.kind.past(site.state)
    numbered = [(number, one) for number, one in enumerate(past, start=1) if one.ended]
    return TEMPLATES.get_template("sittings.html.jinja").render(
        name=held.name,
        noun=held.kind.noun,
        about=ABOUT[held.name],
        trouble=trouble,
        given=given,
        open=still_open(past),
        past=numbered[::-1],
        minutes=MINUTES,
        most_bugs=MOST_IN_A_PROGRAM,
        programs=programs(site.root),
        katas=site.katas,
        topics=topics(site.root),
        levels=LEVELS,
        sets=[*sets(site.root)],
        prefix=site.prefix,
    )


def report(site: Site, held: Held, number: int) -> str:
    """As the terminal shows it, and of an interview also the debrief. Raises: UsageError."""
    transcript = Transcript()
    with contextlib.closing(State(site.root)) as state:
        if not 1 <= number <= len(held.kind.past(state)):
            raise HTTPException(404)
        held.kind.report(transcript, site.root, state, number)
    made = f'<div class="box log">{"".join(transcript.said)}</div>'
    file = debrief_file(site.root, number)
    if held.name == "interview" and file.exists():
        made += f'<section class="box text">{markdown(file.read_text("utf-8"))}</section>'
    return made

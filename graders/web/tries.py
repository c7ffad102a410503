"""Beside the card: a call to try, and what came of it."""

from __future__ import annotations

import json
import time
from html import escape

from nicegui import run, ui

from graders.desk import trying
from graders.desk.verdicts import AnswerFile, Verdict
from graders.faults import GraderError, UsageError
from graders.web.cards import TEMPLATES
from graders.web.editor import Editor, button
from graders.web.site import Site, trouble

SOON_SECONDS = 0.5
SENT = 2 * trying.MOST  # characters, of which the browser sends no more
CALL = f"""<label class="quiet small" for="call">Calls your answer and the reference, and shows the last line's value;
not judged. torch, nn, F and math are there.</label>
<textarea id="call" rows="4" wrap="off" spellcheck="false" autocomplete="off" data-sent="{SENT}">{{}}</textarea>"""


class Tries:
    """Where the page is being built. The text is the browser's, which hands it over."""

    def __init__(self, site: Site, file: AnswerFile, editor: Editor) -> None:
        self.site, self.file, self.editor = site, file, editor
        self.since: float | None = None  # a try is under way
        self.verdict: Verdict | None = None  # whose card is shown
        self.failing = ""  # the call that it is about, as Python
        try:
            self.example = trying.example(file.kata)
        except (UsageError, GraderError) as error:  # said on Run also
            self.example = f"# {error}"
        ui.html(CALL.format(escape(self.example)), sanitize=False)
        with ui.element("div").classes("tools"):
            again = button("Try it", None, "Ctrl-Enter").props("id=try").classes("first")
            again.on("click", js_handler="() => katas.tries()")
            button("The example", lambda: self.fill(self.example))
        self.shown = ui.html(sanitize=False).props("aria-live=polite")
        ui.on("try", lambda event: self.tried(str(event.args)))

    def fill(self, text: str) -> None:
        """What it shows of an earlier call goes."""
        self.shown.content = ""
        ui.run_javascript(f"katas.fill({json.dumps(text)})")

    def about(self, verdict: Verdict | None) -> bool:
        """Whether there is a failing call, which can be tried."""
        self.verdict, self.failing = verdict, ""
        return bool(verdict and verdict.result and verdict.result.requests)

    async def try_failing(self) -> None:
        if self.verdict:
            self.failing = self.verdict.failing_call(self.file.kata)
            self.fill(self.failing)
            if trying.has_code(self.failing):
                await self.tried(self.failing)

    @property
    def long(self) -> bool:
        """Whether one is under way that takes long enough to be told."""
        return self.since is not None and time.monotonic() - self.since > SOON_SECONDS

    async def tried(self, text: str) -> None:
        if self.since is not None or not self.editor.saved():
            return
        self.since = time.monotonic()
        try:
            made = await run.io_bound(self.site.runner.tried, self.file, text)
            page = TEMPLATES.get_template("tried.html.jinja")
            self.shown.content = page.render(tried=made, failing=text == self.failing)
        except (UsageError, GraderError) as error:
            self.shown.content = trouble(error)
        finally:
            self.since = None
        ui.run_javascript("katas.tried()")

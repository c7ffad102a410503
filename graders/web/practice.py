"""The page of one kata: its statement, the editor of its file, and the card of the last run."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

from nicegui import ui

from graders.catalogue import texts
from graders.desk import attempts, hint, review
from graders.desk.diff import between
from graders.desk.progress import LEVELS_OF_HINTS, progress_of
from graders.desk.reset import where_kept
from graders.desk.watch import SLOW_SECONDS
from graders.faults import UsageError
from graders.web import cards
from graders.web.runner import AnswerFile, Verdict
from graders.web.sheet import Sheet
from graders.web.site import Site, heading
from graders.web.statement import drawn, statement

LOOK_SECONDS = 0.1
SAVE_SECONDS = 2.0
PANES = {"statement": "Statement", "code": "Code", "card": "Card"}


class Practice:
    """One page in one browser. It looks ten times a second at what there is; nothing is sent to it."""

    def __init__(self, site: Site, file: AnswerFile) -> None:
        self.site, self.file, self.kata = site, file, file.kata
        self.sheet = Sheet(file)
        self.ready = False  # whether the browser has the editor
        self.saved_at = 0.0
        self.shown: Verdict | None = None
        self.count = -1  # of the runs that it has seen
        self.asked = ""  # the button that must be pressed twice, and was once
        self.answered = False  # whether the statement shows what an interviewer asks next
        self.build()
        ui.timer(LOOK_SECONDS, self.look)

    def build(self) -> None:
        heading(self.site, self.kata.about.title)
        with ui.element("nav").classes("tools").props('aria-label="This kata"'):
            button("Run", self.run, "Ctrl-Enter").props("id=run").classes("first")
            button("Hint", lambda: self.twice("Hint", self.hint))
            button("Reset", lambda: self.twice("Reset", self.reset))
            button("Next", self.go_on)
            ui.link("History", f"/history/{self.kata.id}")
            for word, step in (("A−", -1), ("A+", 1)):
                size = button(word, None, "smaller letters" if step < 0 else "larger letters")
                size.on("click", js_handler=f"() => katas.size({step})")
            self.status = ui.label().classes("status").props("role=status")
        with ui.element("div").classes("tabs").props('role=group aria-label="What is shown"'):
            for name, word in PANES.items():
                tab = ui.element("button").props(f"data-shows={name} aria-pressed={str(name == 'code').lower()}")
                tab.on("click", js_handler=f"() => katas.pane('{name}')")
                with tab:
                    ui.html(word, tag="span", sanitize=False)
        with ui.element("div").classes("panes").props("data-pane=code"):
            with pane("statement", "Statement"):
                self.notes = ui.html(sanitize=False).classes("notes text")
                self.statement = ui.html(sanitize=False).classes("text")
            divider("across", "vertical", "Width of the statement")
            with ui.element("div").classes("pane code"):
                self.conflict()
                self.editor = ui.codemirror(self.sheet.disk, language="Python", indent="    ")
            divider("down", "horizontal", "Height of the code")
            with pane("card", "Card"):
                self.card = ui.html(sanitize=False)
        self.draw()
        ui.on("draft", lambda event: setattr(self.sheet, "base", str(event.args)))
        ui.context.client.on_connect(self.connected)
        ui.context.client.on_disconnect(self.save)

    def conflict(self) -> None:
        """Where page and file have both changed: both are shown, and both are kept."""
        with ui.element("section").props('aria-label="Two versions"').classes("trouble") as self.two:
            ui.label(
                "Another editor changed this file while you wrote here. What you do not take stays in the history."
            )
            self.difference = ui.label().classes("code-text").props("tabindex=0")
            button("Keep what I wrote here", lambda: self.settle(mine=True))
            button("Take the file", lambda: self.settle(mine=False))
        self.two.set_visibility(False)

    async def connected(self) -> None:
        if self.ready:  # it was away for a moment
            return
        with contextlib.suppress(UsageError):  # said on Run
            attempts.opened(self.site.state, self.kata, self.file.via)
        named = f"{self.editor.id}, {json.dumps(self.kata.id)}, {json.dumps(str(self.file.path))}"
        await ui.run_javascript(f"return katas.start({named})", timeout=60)
        self.ready = True
        if self.shown and self.shown.result and self.shown.result.source_text == self.text:
            self.mark()

    @property
    def text(self) -> str:
        """What the page shows. The browser is the only one to change it, so it is never behind."""
        return self.editor.value or ""

    async def look(self) -> None:
        if not self.ready:
            return
        self.sheet.look()
        await self.follow_disk()
        if self.count != self.site.runner.count:
            self.draw()
        self.tell()

    async def follow_disk(self) -> None:
        sheet, text = self.sheet, self.text
        both = sheet.both_changed(text)
        if both != self.two.visible:
            self.two.set_visibility(both)
        if both:
            self.difference.set_text(between(text, sheet.disk, ("here", "in the file")))
        elif not sheet.met(text):
            old, new = sheet.base, sheet.disk
            if await script(f"katas.takeOver({json.dumps(old)}, {json.dumps(new)})"):
                sheet.base = new
        elif text != sheet.base and time.monotonic() - self.saved_at > SAVE_SECONDS:
            self.save()

    def save(self) -> bool:
        """Whether the file is now what the page shows."""
        self.saved_at = time.monotonic()
        text = self.text
        try:
            done = self.sheet.save(text)
        except UsageError as error:
            self.say(str(error))
            return False
        if done:
            ui.run_javascript(f"katas.wasSaved({json.dumps(text)})")
        return done

    def run(self) -> None:
        self.asked = ""
        if self.save():
            self.site.runner.run(self.file)
            ui.run_javascript("katas.pane('card')")
        elif self.sheet.trouble:
            self.say(self.sheet.trouble)
        elif self.sheet.both_changed(self.text):
            self.say("decide first which of the two versions you take")

    def draw(self) -> None:
        """The card and the statement, as they are now."""
        runner, self.count = self.site.runner, self.site.runner.count
        overview = self.site.overview()
        progress = overview.progress[self.kata.id]
        if not self.statement.content or progress.core != self.answered:
            self.answered = progress.core
            self.statement.content = self.site.guarded(
                lambda: statement(self.kata, self.site.names, self.site.prefix, progress.core)
            )
        verdict = runner.last.get(self.file)
        if verdict != self.shown or not self.card.content:
            self.shown = verdict
            empty = '<div class="card"><p class="quiet">Run, or Ctrl-Enter, judges what you wrote.</p></div>'
            self.card.content = cards.card(verdict, runner.judge.seed, overview) if verdict else empty
            self.mark()

    def mark(self) -> None:
        """The line that the card is about."""
        result = self.shown.result if self.shown else None
        if self.ready:
            ui.run_javascript(f"katas.mark({json.dumps(cards.line_of(result) if result else None)})")

    def tell(self) -> None:
        """What is going on, in a line."""
        runner = self.site.runner
        words = self.sheet.trouble
        if runner.running == self.file:
            done, planned = runner.done
            call, seconds = runner.judge.call
            words = f"judging {done}/{planned}" if planned else "judging"
            if seconds >= SLOW_SECONDS:
                words += f", {seconds:.0f} s in {call}"
        elif self.shown and self.shown.result and not words and self.shown.result.source_text != self.text:
            words = "the card is of an earlier version"
        if words != self.status.text:
            self.status.set_text(words)

    def say(self, words: str) -> None:
        ui.notify(words, position="top", multi_line=True)

    def twice(self, name: str, act: Callable[[], None]) -> None:
        """What was pressed by chance costs nothing: it is done when it is pressed again."""
        again, self.asked = self.asked == name, name
        try:
            if not again and (words := self.warning(name)):
                self.say(words)
            else:
                self.asked = ""
                act()
        except UsageError as error:
            self.say(str(error))

    def warning(self, name: str) -> str:
        if name == "Reset":
            return "Reset once more puts the stub here; what you wrote stays in the history"
        known = progress_of(self.site.state.events(self.kata.id), [self.kata.id])[self.kata.id].known
        if known:
            self.show_hints(more=False)
        more = f"Hint once more shows hint {known + 1} of {LEVELS_OF_HINTS}; {hint.COST}"
        return more if known < LEVELS_OF_HINTS else ""

    def hint(self) -> None:
        self.show_hints(more=True)

    def show_hints(self, more: bool) -> None:
        hints = texts.hints(self.kata)
        level = hint.level_of(self.kata, self.site.state, len(hints), more)
        text = "".join(f"## Hint {number} of {len(hints)}\n\n{one}\n\n" for number, one in enumerate(hints[:level], 1))
        self.notes.content = drawn(text, self.site.names, self.site.prefix)
        ui.run_javascript("katas.pane('statement'); document.querySelector('.pane.statement').scrollTo(0, 0)")

    def reset(self) -> None:
        self.save()
        kept = attempts.begin(self.site.state, self.kata, self.file.via)
        self.say(f"the stub again; {where_kept(self.site.state, self.kata, kept).partition(':')[0]}")

    def go_on(self) -> None:
        self.save()
        overview = self.site.overview()
        if self.file.via == review.VIA:
            others = [one.kata for one in overview.due if one.kata != self.kata.id]
            if others:
                self.site.begin_review(others[0])
                return
        name = overview.next_on_path(self.kata.id)
        ui.navigate.to(f"/kata/{name}" if name else "/")

    def settle(self, mine: bool) -> None:
        text = self.text
        try:
            if mine:
                self.sheet.keep_mine(self.site.state, text)
                ui.run_javascript(f"katas.wasSaved({json.dumps(text)})")
            else:
                attempts.keep(self.site.state, self.kata, text)
                self.sheet.base = text
        except UsageError as error:
            self.say(str(error))


def button(text: str, act: Callable[[], Any] | None, tip: str = "") -> ui.button:
    made = ui.button(text, on_click=act, color=None).props("flat no-caps dense")
    return made.props(f'title="{tip}"') if tip else made


def pane(name: str, label: str) -> ui.element:
    """A part of the page that scrolls."""
    return ui.element("section").classes(f"pane {name}").props(f'tabindex=0 aria-label="{label}"')


def divider(name: str, orientation: str, label: str) -> None:
    """Between two panes: dragged, or moved by the arrow keys. page.js does both, and knows where it was last."""
    words = f'role=separator tabindex=0 data-divides={name} aria-orientation={orientation} aria-label="{label}"'
    ui.element("div").classes(f"divider {name}").props(f"{words} aria-valuemin=15 aria-valuemax=85 aria-valuenow=50")


async def script(code: str) -> Any:
    """What it returns; None where the browser does not answer."""
    try:
        return await ui.run_javascript(f"return {code}", timeout=5)
    except TimeoutError:
        return None

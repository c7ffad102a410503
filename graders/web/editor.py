"""The editor of a file in a page, and the pieces that pages with one are made of."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from graders.desk import attempts
from graders.desk.diff import between
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile
from graders.faults import UsageError
from graders.web.language import misspelt, names
from graders.web.sheet import Sheet

SAVE_SECONDS = 2.0
STILL_SECONDS = 0.7  # without a key, until it is looked whether the text is Python


class Editor:
    """It saves what is typed, follows what another editor writes, and lets the learner choose where both did."""

    def __init__(self, state: State, file: AnswerFile) -> None:
        """Where the page is being built."""
        self.state, self.file = state, file
        self.sheet = Sheet(file)
        self.saved_at = 0.0
        self.told = ""  # why it could not be saved, the last time
        self.typed = "", 0.0  # the text at the last look, and since when it has been so
        self.wrong = ""  # where it is no Python, and why
        with ui.element("section").props('aria-label="Two versions"').classes("trouble") as self.two:
            ui.label(
                "Another editor changed this file while you wrote here. "
                "The version that you do not keep stays in the history."
            )
            self.difference = ui.label().classes("code-text").props("tabindex=0")
            button("Keep what I wrote here", lambda: self.settle(mine=True))
            button("Take the file", lambda: self.settle(mine=False))
        self.two.set_visibility(False)
        self.element = ui.codemirror(self.sheet.disk, language="Python", indent="    ")
        ui.on("draft", self.take_draft)
        ui.on("too_long", lambda: say("that text is too long for an answer; nothing was changed"))

    async def start(self) -> None:
        """Once the browser has it."""
        path = self.file.path
        named = [self.element.id, self.file.kata.id, str(path), self.sheet.written.get(path), names(self.file.kata)]
        await ui.run_javascript(f"return katas.start({', '.join(map(json.dumps, named))})", timeout=60)

    def take_draft(self, event: Any) -> None:
        """What an earlier page could not hand over was written on this."""
        path, base = event.args
        if path == str(self.file.path):
            self.sheet.base = str(base)

    @property
    def text(self) -> str:
        """What the page shows. The browser is the only one to change it, so it is never behind."""
        return self.element.value or ""

    async def look(self) -> None:
        """Takes over what is on the disk, or saves."""
        self.sheet.look()
        sheet, text = self.sheet, self.text
        self.read(text)
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

    def read(self, text: str) -> None:
        """Underlines where it is no Python, once no key was pressed for a moment."""
        before, since = self.typed
        if text != before:
            self.typed = text, time.monotonic()
        elif since and time.monotonic() - since > STILL_SECONDS:
            self.typed = text, 0.0
            found = misspelt(text)
            if found or self.wrong:
                ui.run_javascript(f"katas.underline({json.dumps([*vars(found).values()] if found else [])})")
            self.wrong = found.words if found else ""

    @property
    def undecided(self) -> bool:
        """Whether another editor changed the file also, and the learner has not said which text is kept."""
        return self.sheet.both_changed(self.text)

    def save(self) -> bool:
        """Whether the file is now what the page shows."""
        self.saved_at = time.monotonic()
        text = self.text
        try:
            done = self.sheet.save(text)
        except UsageError as error:
            if str(error) != self.told:
                say(str(error))
            self.told = str(error)
            return False
        self.told = ""
        if done:
            ui.run_javascript(f"katas.wasSaved({json.dumps(text)})")
        return done

    def saved(self) -> bool:
        """Saves what was typed, before it is judged, or says why it cannot be.

        What another editor has just written is shown at once.
        """
        self.told = ""
        if self.save() or (self.text == self.sheet.base and not self.sheet.trouble):
            return True
        if self.sheet.trouble:
            say(self.sheet.trouble)
        elif self.undecided:
            ui.run_javascript("katas.pane('code')")
            say("decide first which of the two versions you keep")
        return False

    def settle(self, mine: bool) -> None:
        text = self.text
        try:
            if mine:
                if self.sheet.keep_mine(self.state, text):
                    ui.run_javascript(f"katas.wasSaved({json.dumps(text)})")
            else:
                attempts.keep(self.state, self.file.kata, text)
                self.sheet.base = text
        except UsageError as error:
            say(str(error))


def say(words: str) -> None:
    ui.notify(words, position="top", multi_line=True)


def button(text: str, act: Callable[[], Any] | None, tip: str = "") -> ui.button:
    made = ui.button(text, on_click=act, color=None).props("flat no-caps dense").classes("btn")
    return made.props(f'title="{tip}"') if tip else made


def pane(name: str, label: str) -> ui.element:
    """A part of the page that scrolls."""
    return ui.element("section").classes(f"pane {name}").props(f'tabindex=0 aria-label="{label}"')


def divider(name: str, orientation: str, label: str) -> None:
    """Between two panes: dragged, or moved by the arrow keys. page.js does both, and knows where it was last."""
    words = f'role=separator tabindex=0 data-divides={name} aria-orientation={orientation} aria-label="{label}"'
    ui.element("div").classes(f"divider {name}").props(f"{words} aria-valuemin=15 aria-valuemax=85 aria-valuenow=50")


def tabs(panes: Mapping[str, str], shown: str, label: str = "What is shown", kind: str = "shown") -> ui.element:
    """Those of the `kind` "shown" are there where there is no room for all panes."""
    with ui.element("div").classes(f"tabs {kind}").props(f'role=group aria-label="{label}"') as made:
        for name, word in panes.items():
            tab = ui.element("button").props(f"data-shows={name} aria-pressed={str(name == shown).lower()}")
            tab.on("click", js_handler=f"() => katas.pane('{name}')")
            with tab:
                ui.html(word, tag="span", sanitize=False)
    return made


def more(label: str) -> ui.element:
    """A button that opens what it returns, where buttons stand that are seldom needed."""
    button("•••", None).classes("bare").props(f'popovertarget=more aria-label="{label}"')
    return ui.element("div").props("id=more popover=auto")


async def script(code: str) -> Any:
    """What it returns; None where the browser does not answer."""
    try:
        return await ui.run_javascript(f"return {code}", timeout=5)
    except TimeoutError:
        return None

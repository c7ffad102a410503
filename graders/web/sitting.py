"""The page of an interview or a debug round that goes on: the talk, and the editor of the file that is written."""

from __future__ import annotations

import functools
import json
from typing import Any

from markupsafe import Markup
from nicegui import ui

from graders.desk.verdicts import AnswerFile, slow_call
from graders.sitting.commands import Command
from graders.web.cards import TEMPLATES
from graders.web.editor import Editor, button, divider, more, say, tabs
from graders.web.site import Site, heading
from graders.web.sittings import Held
from graders.web.statement import drawn

LOOK_SECONDS = 0.1
LONGEST_LINE = 10_000  # characters
PANES = {"talk": "Talk", "code": "Code"}
SOON_SECONDS = 0.3  # in which most lines are answered
OF_THE_FILE = ("submit", "run", "bug")  # commands
FINISHED = "an answer of several lines"
# What may be asked beside a line of one's own, and what can be answered by a button.
ANSWERS: dict[str, dict[str, str]] = {
    "yes/no": {"Yes": "yes", "No": "no"},
    "your score": {score: score for score in "0123"},
    "which points": {"All of them": "all", "None": "none"},
    "Enter tries again": {"Try again": ""},
    FINISHED: {"That is my answer": ""},
}
LINE = """<form class="line" onsubmit="return katas.say(this)">
<textarea name="line" rows="2" aria-label="What you say" placeholder="{}" autocomplete="off"
onkeydown="katas.sends(event)"></textarea>
<button class="btn">Send</button>
</form>"""
SAID = {
    "interview": "Think aloud, or ask: may I use torch.softmax?",
    "debug": "bug 12 why it is wrong; in several files, bug FILE 12 why",
}
IN_VIEW = ("bug", "hint", "run", "submit", "skip")  # commands, each with a button; the others stand in a menu
ONWARD = "next"  # the one that leads to the next step, beside the steps
NOTHING = {"interview": "You will write here, once you have told your plan.", "debug": "The bugs are being planted."}


class SittingPage:
    """One page in one browser. It looks ten times a second at what there is; nothing is sent to it."""

    def __init__(self, site: Site, held: Held) -> None:
        assert held.chat
        self.site, self.held, self.chat = site, held, held.chat
        self.count = 0  # of what was said, that it shows
        self.made_from: tuple[object, ...] = ()  # its commands
        self.buttons: dict[str, ui.button] = {}  # of commands that act at once
        self.asked = ""  # what it has buttons for to answer
        self.files: list[AnswerFile] | None = None  # None: it was not looked yet
        self.file: AnswerFile | None = None  # of them, that is open
        self.editor: Editor | None = None
        self.ready = False  # whether the browser has the page, and the editor
        self.build()
        ui.timer(LOOK_SECONDS, self.look)

    def build(self) -> None:
        noun = self.held.kind.noun
        with heading(self.site, noun.capitalize(), self.held.name.capitalize()):
            self.status = ui.label().classes("status").props("role=status")
            self.clock = ui.label().classes("clock").props("role=timer")
            with ui.element("div").classes("acts").props(f'role=group aria-label="This {noun}"'):
                self.menu = more("More commands")
                self.commands = ui.element("div").classes("tools")
                self.stop = button("Stop", self.chat.stop, "ends what is under way; the clock runs on")
        self.stop.set_visibility(False)
        with ui.element("div").classes("stage") as self.stage:
            self.steps = ui.html(sanitize=False).classes("grow")
            self.onward = ui.element("div")
        tabs(PANES, "talk")
        with ui.element("div").classes("panes two").props("data-pane=talk"):
            with ui.element("section").classes("pane talk").props('aria-label="Talk"'):
                self.task = ui.html(sanitize=False).classes("pinned")
                log = 'role=log aria-live=polite aria-label="What was said" tabindex=0 id=log'
                self.log = ui.element("div").classes("log").props(log)
                self.answers = ui.element("div").classes("tools")
                self.line = ui.html(LINE.format(SAID[self.held.name]), sanitize=False)
            divider("across", "vertical", "Width of the talk")
            with ui.element("div").classes("pane code"):
                self.names = ui.element("div").classes("tabs files").props('role=group aria-label="Files"')
                self.room = ui.element("div").classes("room")
        ui.on("line", lambda event: self.said(str(event.args)))
        ui.on("enter", self.enter)
        ui.context.client.on_connect(self.connected)
        ui.context.client.on_disconnect(self.save)

    def connected(self) -> None:
        self.ready = True
        ui.run_javascript("katas.talk()")

    async def look(self) -> None:
        self.hear()
        self.tell()
        if self.ready:
            await self.write()
            if self.editor:
                await self.editor.look()

    def hear(self) -> None:
        """Shows what was said since."""
        new = self.chat.said[self.count :]
        if not new:
            return
        with self.log:
            for one in new:
                ui.html(one, sanitize=False)
        self.count += len(new)
        ui.run_javascript("katas.heard()")

    def tell(self) -> None:
        """How much time is left, what can be done, and what is waited for."""
        session, chat, turn = self.held.session, self.chat, self.site.runner.turn
        sitting = session.sitting if session else None
        known = session.commands if session and not chat.ended else []
        if chat.ended or chat.seconds < SOON_SECONDS:
            words = ""
        elif turn.whose in ("", chat.whose):
            words = (chat.doing or "one moment") + slow_call(chat.judge)
        else:
            words = f"waits for its turn after {turn.whose}"
        self.clock.set_text(sitting.left() if sitting and not chat.ended else "")
        self.status.set_text(words)
        self.stop.set_visibility(bool(words) and turn.whose == chat.whose)
        for one in (self.menu, self.commands, self.onward):
            one.set_visibility(not words)
        self.line.set_visibility(not chat.ended)
        task, steps = (session.task, session.steps) if session and sitting else (("", ""), ())
        made_from = (*(one.name for one in known), self.several, chat.ended, task, steps, sitting and sitting.at)
        if made_from != self.made_from:
            self.made_from = made_from
            self.draw_commands(known)
            self.draw_task(*task, steps, sitting.at if sitting else "")
        for name, one in self.buttons.items():
            one.classes(**{"add" if name == self.first else "remove": "first"})
        asked = "" if chat.ended else chat.asked or (FINISHED if sitting and sitting.at == "follow-up" else "")
        if asked != self.asked and not words:
            self.asked = asked
            self.draw_answers(asked)

    def draw_task(self, title: str, text: str, steps: tuple[str, ...], at: str) -> None:
        """What is to be done, which stays in view, and the steps to it."""
        made = Markup(drawn(text, frozenset(), self.site.prefix))
        self.task.content = TEMPLATES.get_template("task.html.jinja").render(title=title, text=made) if text else ""
        ui.run_javascript("katas.fold()")
        self.task.set_visibility(bool(text))
        self.steps.content = TEMPLATES.get_template("steps.html.jinja").render(steps=steps, at=at)
        self.stage.set_visibility(at in steps)

    def draw_commands(self, known: list[Command[Any]]) -> None:
        for place in (self.menu, self.commands, self.onward):
            place.clear()
        self.buttons.clear()
        if self.chat.ended and self.file is None:
            self.room.clear()  # nothing will be written there
        for one in known:
            with self.onward if one.name == ONWARD else self.commands if one.name in IN_VIEW else self.menu:
                self.command(one)
        with self.commands:
            for words, address in self.ways() if self.chat.ended else ():
                ui.link(words, address).classes("btn")

    def command(self, one: Command[Any]) -> None:
        """What it takes words for is begun in the line."""
        tip = f"{one.usage}: {one.does}"
        if one.takes == "words":
            where = json.dumps([one.name, "LINE" in one.usage, self.several])
            button(one.name, None, tip).on("click", js_handler=f"() => katas.begins(...{where})")
            return
        self.buttons[one.name] = button(one.name, lambda: self.command_given(one.name), tip)

    @property
    def first(self) -> str:
        """What Ctrl-Enter does."""
        return "run" if self.file and self.file.tests else "submit"

    def enter(self) -> None:
        if self.first in self.buttons:
            self.command_given(self.first)

    @property
    def several(self) -> bool:
        """Whether a claim has to name its file."""
        return len({file.kata.id for file in self.files or ()}) > 1

    def ways(self) -> list[tuple[str, str]]:
        """Where to go from here, once it is over."""
        name, past = self.held.name, self.held.kind.past(self.site.state)
        if not past or not past[-1].ended:
            return [("Go on" if past else "Begin", f"/{name}"), ("Map", "/")]
        words = "Report and debrief" if name == "interview" else "Report again"
        return [(words, f"/{name}/{len(past)}"), ("Another one", f"/{name}"), ("Map", "/")]

    def draw_answers(self, asked: str) -> None:
        self.answers.clear()
        with self.answers:
            for words, line in ANSWERS.get(asked, {}).items():
                button(words, functools.partial(self.command_given, line))

    def command_given(self, line: str) -> None:
        """By a button: twice is once."""
        if not self.chat.repeats(line):
            self.send(line)
            ui.run_javascript("katas.spoken()")

    def said(self, text: str) -> None:
        """In the line, where it stands again if it was not taken."""
        ui.run_javascript(f"katas.took({json.dumps(text)})" if self.send(text) else "katas.bring()")

    def send(self, text: str) -> bool:
        """Whether it was taken. What is on the page is on the disk before it is judged."""
        if len(text) > LONGEST_LINE:
            say(f"too long: say it in at most {LONGEST_LINE:,} characters, not {len(text):,}")
            return False
        if self.chat.ended or (not self.save() and text.partition(" ")[0].lower() in OF_THE_FILE):
            return False
        self.chat.send(text)
        return True

    def save(self) -> bool:
        return self.editor is None or self.editor.saved()

    async def write(self) -> None:
        """The editor of what can be written now. Tests that have just been made are opened."""
        before, files = self.files, self.held.files
        if files == before or self.chat.ended or (self.editor and self.editor.undecided):
            return
        self.files = files
        self.draw_files()
        new = [one for one in files if one.tests and one not in (before or ())]
        if self.file is None or self.file not in files:
            await self.open(files[0] if files else None)
        elif new:
            await self.open(new[0])

    async def open(self, file: AnswerFile | None) -> None:
        if not self.save():
            return
        self.file, self.editor = file, None
        self.draw_files()
        self.room.clear()
        with self.room:
            if file is None:
                ui.html(NOTHING[self.held.name], sanitize=False).classes("quiet")
                return
            editor = Editor(self.site.state, file)
        await editor.start()
        self.editor = editor

    def draw_files(self) -> None:
        self.names.clear()
        with self.names:
            for one in self.files or ():
                made = button(one.path.name, functools.partial(self.open, one))
                made.props(f"aria-pressed={str(one == self.file).lower()}")

"""The page of one kata: its statement, the editor of its file, and the card of the last run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

from nicegui import run, ui

from graders.catalogue import texts
from graders.desk import attempts, hint, review, status
from graders.desk.progress import LEVELS_OF_HINTS, progress_of
from graders.desk.reset import stands_there, where_kept
from graders.desk.verdicts import AnswerFile, Verdict
from graders.faults import UsageError
from graders.judge.card import costs_in_words
from graders.web import cards
from graders.web.drawn import folded
from graders.web.editor import Editor, button, divider, more, pane, say, tabs
from graders.web.history import History
from graders.web.site import Site, heading
from graders.web.statement import drawn, statement
from graders.web.tries import Tries

LOOK_SECONDS = 0.1
PANES = {"statement": "Statement", "code": "Code", "card": "Card", "try": "Try", "history": "History"}
BELOW = {name: PANES[name] for name in ("card", "try", "history")}  # one of which is shown, also where there is room


class Practice:
    """One page in one browser. It looks ten times a second at what there is; nothing is sent to it."""

    def __init__(self, site: Site, file: AnswerFile) -> None:
        self.site, self.file, self.kata = site, file, file.kata
        self.ready = False  # whether the browser has the editor
        self.shown: Verdict | None = None
        self.count = -1  # of the runs that it has seen
        self.told = ""  # why the card could not be drawn, the last time
        self.asked = ""  # the button that must be pressed twice, and was once
        self.stands = (False, "")  # as the statement shows it: whether the core is right, and how far the learner is
        self.begun = ""  # what the file begins with, of a kata that goes on from another
        with contextlib.suppress(UsageError):  # said on Run
            self.begun = attempts.go_on(site.state, self.kata, file.via)
        self.build()
        ui.timer(LOOK_SECONDS, self.look)

    def build(self) -> None:
        with heading(self.site, self.kata.about.title):
            self.status = ui.label().classes("status").props("role=status")
            shown = f"id=timer role=timer hidden data-kata={self.kata.id} data-minutes={self.kata.about.minutes}"
            ui.element("span").classes("clock").props(shown)
            with ui.element("div").classes("acts").props('role=group aria-label="This kata"'):
                with more("More"):
                    button("Next kata", self.go_on)
                    button("Reset to the stub", lambda: self.twice("Reset", self.reset))
                    for word, step in (("Smaller letters", -1), ("Larger letters", 1)):
                        button(word, None).on("click", js_handler=f"() => katas.size({step})")
                    vim = button("Vim's keys", None).props("data-vim aria-pressed=false")
                    vim.on("click", js_handler="() => katas.vim()")
                    timer = button("Timer", None).props("data-timer aria-pressed=false")
                    timer.on("click", js_handler="() => katas.timer(true)")
                    button("All keys", None, "?").on("click", js_handler="() => katas.showKeys()")
                button("Hint", lambda: self.twice("Hint", self.hint))
                self.stopping = button("Stop", lambda: self.site.runner.stop(self.file), "Escape").props("id=stop")
                self.stopping.set_visibility(False)
                self.running = button("Run", self.run, "Ctrl-Enter").props("id=run").classes("first")
        tabs(PANES, "statement")
        with ui.element("div").classes("panes").props("data-pane=statement data-below=card"):
            with pane("statement", "Statement"):
                self.notes = ui.html(sanitize=False).classes("notes text")
                self.statement = ui.html(sanitize=False).classes("text")
            divider("across", "vertical", "Width of the statement")
            with ui.element("div").classes("pane code"):
                with ui.element("div").classes("tabs files"):
                    ui.label(self.file.path.name).classes("one")
                    self.saved = ui.label().classes("end")
                self.editor = Editor(self.site.state, self.file)
            divider("down", "horizontal", "Height of the code")
            with ui.element("div").classes("below"):
                with tabs(BELOW, "card", "Below the code", ""):
                    self.try_failing = button("Try the failing call", None).classes("end")
                with pane("card", "Card"):
                    self.card = ui.html(sanitize=False)
                    self.other = button("Other right answers", self.show_others)
                    self.costs, self.others = ui.html(sanitize=False), ui.html(sanitize=False).classes("text")
                with pane("try", "Try"):
                    self.tries = Tries(self.site, self.file, self.editor)
                with pane("history", "History"):
                    History(self.site, self.file)
                self.try_failing.on_click(self.tries.try_failing)
        self.draw()
        ui.on("next", self.go_on)
        ui.context.client.on_connect(self.connected)
        ui.context.client.on_disconnect(self.editor.save)

    async def connected(self) -> None:
        if self.ready:  # it was away for a moment
            return
        with contextlib.suppress(UsageError):  # said on Run
            attempts.opened(self.site.state, self.kata, self.file.via)
        await self.editor.start()
        if self.begun:
            say(self.begun)
        self.ready = True
        self.mark()

    async def look(self) -> None:
        if not self.ready:
            return
        await self.editor.look()
        if self.count != self.site.runner.count:
            try:
                self.draw()
                self.told = ""
            except UsageError as error:  # and again at the next look
                if self.told != (words := str(error)):
                    say(words)
                self.told = words
        self.tell()

    def run(self) -> None:
        self.asked = ""
        if self.editor.saved():
            self.site.runner.tell(self.file)
            ui.run_javascript("katas.pane('card')")

    def draw(self) -> None:
        """The card and the statement, as they are now."""
        runner, count = self.site.runner, self.site.runner.count
        overview = self.site.overview()
        self.count = count
        progress = overview.progress[self.kata.id]
        stands = progress.core, cards.fact(overview, self.kata.id) if progress.attempts else ""
        if not self.statement.content or stands != self.stands:
            self.stands = stands
            self.statement.content = self.site.guarded(
                lambda: statement(self.kata, self.site.names, self.site.prefix, *stands)
            )
        verdict = runner.last.get(self.file)
        if verdict != self.shown or not self.card.content:
            self.shown = verdict
            empty = '<div class="card"><p class="quiet">Run, or Ctrl-Enter, judges what you wrote.</p></div>'
            self.card.content = cards.card(verdict, overview, self.after(overview)) if verdict else empty
            passed = bool(verdict and verdict.result and verdict.result.state == "solved")
            self.running.classes(**{"remove" if passed else "add": "first"})  # Next is what is to be done then
            self.try_failing.set_visibility(self.tries.about(verdict))
            self.other.set_visibility(bool(runner.right(self.file)))
            self.costs.content = self.others.content = ""
            self.mark()

    async def show_others(self) -> None:
        """All of them, and what each costs once that is known."""
        runner, kata, page = self.site.runner, self.kata, cards.TEMPLATES.get_template("others.html.jinja")
        if own := runner.right(self.file):
            self.others.content = "".join(map(folded, (kata.reference_file, *kata.alternatives)))
            costs = {"yours": costs_in_words(own)}
            for file in kata.alternatives if own.costs else ():
                costs[file.stem] = await run.io_bound(runner.costs_of, kata, file) or ["not counted"]
                if runner.right(self.file) is not own:  # judged meanwhile
                    return
                self.costs.content = page.render(costs=costs)

    def mark(self) -> None:
        """The line that the card is about, if it is still the card of this text."""
        result = self.shown.result if self.shown else None
        line = cards.line_of(result) if result else None
        if self.ready and (line is None or (result and result.source_text == self.editor.text)):
            ui.run_javascript(f"katas.mark({json.dumps(line)})")

    def tell(self) -> None:
        """What is going on, in a line."""
        runner, result = self.site.runner, self.shown.result if self.shown else None
        words = self.editor.sheet.trouble
        runs, earlier = runner.running == self.file, bool(result and result.source_text != self.editor.text)
        tries = self.tries.long and runner.trying == self.file
        self.stopping.set_visibility(runs or tries)
        self.card.classes(add="earlier") if earlier else self.card.classes(remove="earlier")
        if runs:
            words = runner.so_far
        elif tries:
            words = "trying the call"
        elif runner.waiting == self.file or self.tries.long:
            words = f"waits for its turn after {runner.turn.whose}"
        elif earlier and not words:
            words = "the card is of an earlier version"
        kept = "saved" * (self.editor.text == self.editor.sheet.base)
        for label, text in ((self.status, words), (self.saved, self.editor.wrong or kept)):
            if label.text != text:
                label.set_text(text)
                label.classes(**{"add" if text and text == self.editor.wrong else "remove": "bad"})

    def twice(self, name: str, act: Callable[[], None]) -> None:
        """What was pressed by chance costs nothing: it is done when it is pressed again."""
        again, self.asked = self.asked == name, name
        try:
            if not again and (words := self.warning(name)):
                say(words)
            else:
                self.asked = ""
                act()
        except UsageError as error:
            say(str(error))

    def warning(self, name: str) -> str:
        if name == "Reset":
            return "Press Reset again to put the stub here; what you wrote stays in the history"
        known = progress_of(self.site.state.events(self.kata.id), [self.kata.id])[self.kata.id].known
        if known:
            self.show_hints(more=False)
        more = f"Press Hint again for hint {known + 1} of {LEVELS_OF_HINTS}; {hint.COST}"
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
        self.editor.save()
        kept = attempts.begin(self.site.state, self.kata, self.file.via)
        was = where_kept(self.site.state, self.kata, kept).partition(":")[0]
        say(f"this {stands_there(self.kata, self.file.via)} again; {was}")

    def go_on(self) -> None:
        self.editor.save()
        overview = self.site.overview()
        name = self.coming(overview)
        if self.file.via == review.VIA and name in [one.kata for one in overview.due]:
            ui.navigate.to(self.site.begin_review(name))
        else:
            ui.navigate.to(f"/kata/{name}" if name else "/")

    def coming(self, overview: status.Desk) -> str:
        """The kata that comes after this one; in a review one that is due, while there is any."""
        due = [one.kata for one in overview.due if one.kata != self.kata.id] if self.file.via == review.VIA else []
        return next(iter(due), None) or overview.next_on_path(self.kata.id) or ""

    def after(self, overview: status.Desk) -> str:
        name = self.coming(overview)
        return self.site.katas[name].about.title if name else ""

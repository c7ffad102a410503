"""Beside the card: the attempts at a kata, what one of them differs in from another, and a way to bring it back."""

from __future__ import annotations

from difflib import unified_diff

from nicegui import ui

from graders.desk import attempts, review
from graders.desk.history import first_failure
from graders.desk.progress import reached
from graders.desk.verdicts import AnswerFile
from graders.faults import UsageError
from graders.report.page import VERDICTS
from graders.web.cards import TEMPLATES
from graders.web.editor import say
from graders.web.site import Site

KINDS = {"+": "plus", "-": "minus"}  # of lines, by how they begin


class History:
    """Where the page is being built."""

    def __init__(self, site: Site, file: AnswerFile) -> None:
        self.site, self.file = site, file
        self.shown = ui.html(sanitize=False)
        ui.on("attempt", lambda event: self.show(int(event.args[0]), str(event.args[1])))
        ui.on("restore", lambda event: self.restore(int(event.args)))

    def show(self, number: int, beside: str) -> None:
        """The attempt of that number, the last for 0, and what it differs in from another text."""
        self.shown.content = self.site.guarded(lambda: html(self.site, self.file, number, beside))

    def restore(self, number: int) -> None:
        """In the place of the kata's file, of a review also."""
        found = attempts.attempts_of(self.site.state, self.file.kata)
        try:
            if 1 <= number <= len(found):
                attempts.restore(self.site.state, self.file.kata, found[number - 1])
                say(f"{self.file.kata.answer_file.name} is attempt {number} again")
        except UsageError as error:
            say(str(error))
            return
        if self.file.via == review.VIA:
            ui.navigate.to(f"/kata/{self.file.kata.id}")


def html(site: Site, file: AnswerFile, number: int, beside: str) -> str:
    """Raises: UsageError."""
    found = attempts.attempts_of(site.state, file.kata)
    sources = [event.body["source"] for event in found]
    number = number if 1 <= number <= len(found) else len(found)
    others = others_than(number, sources, site, file) if found else {}
    beside = beside if beside in others else ""
    _, other = others.get(beside, ("", None))
    text = sources[number - 1].splitlines() if others else []
    if other is not None:
        was, now = (other.splitlines(), text) if beside == "before" else (text, other.splitlines())
        text = [*unified_diff(was, now, n=len(was), lineterm="")][3:] or ["no difference"]
    rows = [(count, event, VERDICTS[reached(event)], first_failure(event)) for count, event in enumerate(found, 1)]
    return TEMPLATES.get_template("history.html.jinja").render(
        rows=rows[::-1],
        reached=reached,
        number=number,
        beside=beside,
        ways={name: words for name, (words, _) in others.items()},
        lines=[(KINDS.get(line[:1], "") if other is not None else "", line) for line in text],
    )


def others_than(number: int, sources: list[str], site: Site, file: AnswerFile) -> dict[str, tuple[str, str | None]]:
    """What an attempt can be compared with: in words, and its text; None where nothing is compared."""
    kata = file.kata
    made: dict[str, tuple[str, str | None]] = {"": ("as it was", None)}
    if number > 1:
        made["before"] = (f"attempt {number - 1}", sources[number - 2])
    if file.path.is_file():
        made["now"] = ("now", file.path.read_text("utf-8", errors="replace"))
    if site.overview().progress[kata.id].solved and kata.reference_file.exists():
        made["reference"] = ("the reference", kata.reference_file.read_text("utf-8"))
    return made

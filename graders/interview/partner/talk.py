"""The candidate's terminal while a friend interviews: it keeps the clock, runs tests and grades; people talk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from graders.catalogue.katas import Kata
from graders.faults import UsageError
from graders.files import make_room, replace_file
from graders.interview.interview import Interview
from graders.interview.partner import sheet
from graders.interview.partner.page import page_of
from graders.interview.partner.sheet import Scores, Sheet
from graders.sitting.terminal import Terminal

TITLE = b"<title>For the interviewer"  # of a page, in page.html.jinja
ADVICE = "name another file: --partner FILE"


def hand_over(terminal: Terminal, katas: Sequence[Kata], minutes: int, seed: int, file: Path) -> None:
    """Writes the interviewer's page, and waits until they have it. Raises: UsageError, GraderError."""
    if not file.parent.is_dir():  # a mistyped one: nothing is made for it
        raise UsageError(f"there is no folder {file.parent}: make it, or {ADVICE}")
    make_room(file, ADVICE)
    if file.is_file() and file.stat().st_size and TITLE not in file.read_bytes():
        raise UsageError(f"{file} is there and is no such page: it would be lost; {ADVICE}")
    replace_file(file, page_of(katas, minutes, seed), ADVICE)
    terminal.say(f"The interviewer's page:  {file}")
    terminal.say(
        "It has every answer, so do not open it: send the file to whoever interviews you, or let them open it on a "
        "screen that you do not see. It shows no task and no answer before they say that they are the interviewer."
    )
    try:
        terminal.ask(lambda: "Press Enter when they have it > ")
    except EOFError:
        raise UsageError("nobody pressed Enter, so nothing began; try again in a terminal") from None


class PartnerInterview(Interview):
    """An interview in which people talk, and the terminal listens to commands alone."""

    introductions: ClassVar = {
        "clarify": "Your interviewer tells you the task. Ask them what it leaves open. "
        "Type `next` when you begin to plan.",
        "plan": "Say how you will do it: the formula, the shapes, the traps, what it costs. Type `next` when "
        "you want to write the code.",
        "code": "Write it into {file}, in {editor}, and say what you do. `run` runs tests of yours. Type `next` "
        "when it is written.",
        "test": "Look for what might break it, with `run`. `submit` grades it, as often as you like; the last "
        "submission counts. `next` goes on to the questions.",
        "follow-up": "Answer your interviewer's questions. Type `next` when they have no more.",
    }

    def put_task(self) -> None:
        """The interviewer does."""

    def finish(self) -> None:
        """Takes the interviewer's scores. Raises: UsageError."""
        self.say("Your interviewer's page ends with a code, which has their scores. Type it, or `skip`.")
        sheets = [Sheet.of(one) for one in self.every.values()]
        while (code := self.ask("code ").strip()).lower() != "skip":
            try:
                scores = sheet.read(code, self.report.seed, sheets)
            except UsageError as error:
                self.say(f"error: {error}; or `skip`")
                continue
            self.add("partner", rounds=[{**asdict(one), "traps": self.traps(one)} for one in scores])
            break
        super().finish()

    def traps(self, scores: Scores) -> list[int]:
        """Those of the questions that earn points."""
        return [number for number in scores.asked if not self.every[scores.kata].clarifying[number - 1].usual]

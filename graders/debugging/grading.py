"""A grading within a debug round: the card keeps to itself what fails, since that would be a hint."""

from __future__ import annotations

from rich.text import Text

from graders.judge.card import WORDS, Reporter
from graders.judge.results import Result
from graders.sitting.grading import SittingReporter

KEPT_BACK = {"looks like", "rerun", "debug", "hint"}


class DebugReporter(SittingReporter):
    """Shows the points alone, and why a file cannot be judged."""

    diagnosed = False

    def headline(self, result: Result) -> Text:
        word, colour = WORDS[result.state]
        return Text.assemble((f"{word:5} ", f"bold {colour}"), f"{result.kata:22} {result.score:3}/{result.max_score}")

    def rows(self, result: Result) -> list[tuple[str, str]]:
        return [("why", result.message or "")] if result.state == "error" else []

    def show_failure(self, result: Result) -> None:
        """What fails, once that tells nothing of a planted bug."""
        self.show([row for row in Reporter.rows(self, result) if row[0] not in KEPT_BACK])

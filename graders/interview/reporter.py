"""A grading within an interview: the card shows what failed, and keeps to itself what it looks like."""

from __future__ import annotations

from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.catalogue.katas import Kata
from graders.interview.terminal import Terminal
from graders.judge.card import Reporter, costs_in_words
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.warm import WarmJudge

KEPT_BACK = {"looks like", "rerun", "debug", "hint"}  # a hint outside of the interview would cost nothing
MOST_NAMES = 10


class InterviewReporter(Reporter):
    """Grades, and shows the card."""

    def __init__(self, terminal: Terminal, judge: WarmJudge) -> None:
        super().__init__(judge.seed, terminal.console)
        self.terminal = terminal
        self.judge = judge

    def of(self, kata: Kata, file: Path) -> Result:
        """Raises: GraderError."""
        self.start()
        try:
            result = self.judge.grade(kata, source_of(kata, file), self.look)
        finally:
            self.stop()
        if not result.todo:
            self.say(self.headline(result))
            self.show(self.rows(result))
        return result

    def look(self, result: Result) -> None:
        if self.status:
            self.status.update(f"{result.kata} {len(result.outcomes)}/{result.planned}")

    def say(self, text: Text | Table | Padding | str) -> None:
        self.terminal.show(text)

    def rows(self, result: Result) -> list[tuple[str, str]]:
        """The card's, the names of what failed, and the cost."""
        failed = result.state in ("failing", "error")
        rows = [row for row in super().rows(result) if row[0] not in KEPT_BACK] if failed else []
        names = list(dict.fromkeys(outcome.name.split("/")[1] for outcome in result.failures))
        if len(names) > 1:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            rows.append(("checks", ", ".join(names[:MOST_NAMES]) + more))
        return rows + [("cost", words) for words in costs_in_words(result)]

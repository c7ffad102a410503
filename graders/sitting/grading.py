"""A grading within a sitting."""

from __future__ import annotations

from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.catalogue.katas import Kata
from graders.faults import GraderError, UsageError
from graders.judge.card import card_of
from graders.judge.reporter import Reporter
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.warm import WarmJudge
from graders.sitting.interrupts import stoppable
from graders.sitting.terminal import Terminal


class SittingReporter(Reporter):
    """Grades, and shows the card."""

    diagnosed = True

    def __init__(self, terminal: Terminal, judge: WarmJudge) -> None:
        super().__init__(judge.seed, terminal.console)
        self.terminal = terminal
        self.judge = judge

    def of(self, kata: Kata, file: Path) -> Result:
        """Raises: UsageError where that cannot be graded, Stopped."""
        try:
            with self.terminal.waiting("starting") as tell, stoppable(self.judge):
                result = self.judge.grade(
                    kata,
                    source_of(kata, file),
                    lambda so_far: tell(f"{kata.id} {len(so_far.outcomes)}/{so_far.planned}"),
                    diagnosed=self.diagnosed,
                )
        except GraderError as error:
            raise UsageError(f"{kata.id} cannot be graded here: {error}") from None
        if any(outcome.graders_fault for outcome in result.outcomes):
            raise UsageError(f"{kata.id} cannot be graded: the fault is the grader's own, and this does not count")
        if not result.todo:
            self.show(card_of(result))
        return result

    def say(self, text: Text | Table | Padding | str) -> None:
        self.terminal.show(text)

"""The round itself: the file with its bugs, what is claimed and submitted, hints for points."""

from __future__ import annotations

import ast
import difflib
import functools
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graders.catalogue.bugs import Bug, bugs_of, stood_for
from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.catalogue.stub import START
from graders.debugging.draw import reach
from graders.desk.debugged import KEY, DebugRound, PlantedBug
from graders.desk.state import State
from graders.faults import UsageError
from graders.judge.planting import Left, Planting
from graders.judge.warm import WarmJudge
from graders.kata.mistakes import Mistake
from graders.sitting.interrupts import stoppable
from graders.sitting.sitting import Sitting
from graders.sitting.terminal import Terminal

if TYPE_CHECKING:
    from graders.sitting.matching import Matcher

REGION = 5  # lines that the second hint shows


class Debugging(Sitting[DebugRound]):
    """One debug round."""

    kind = KEY
    noun = "debug round"

    def __init__(
        self,
        state: State,
        report: DebugRound,
        bugs: Sequence[Bug],
        planting: Planting,
        terminal: Terminal,
        judge: WarmJudge,
    ) -> None:
        super().__init__(state, report, terminal, judge)
        self.bugs = bugs
        self.planting = planting
        self.called = ""  # how a claim names the file, where there are several

    @property
    def kata(self) -> Kata:
        return self.planting.kata

    @functools.cached_property
    def mistakes(self) -> list[Mistake]:
        """All known ones that words may mean, planted or not."""
        return [one for one in self.kata.mistakes if one.slow == self.report.slow]

    @functools.cached_property
    def matcher(self) -> Matcher:
        """Understands claims; made when the first is made, since that takes a second."""
        from graders.debugging.words import matcher_of

        return matcher_of(self.kata, self.mistakes)

    @functools.cached_property
    def named_by(self) -> list[set[str]]:
        """The words of code that each mistake's edit takes away or puts there."""
        from graders.debugging.words import named_by

        return [named_by(self.kata, one) for one in self.mistakes]

    def source(self) -> str:
        """What stands in the file. Raises: UsageError where that is nothing."""
        found = read_source(self.file, self.shown)
        if found.unreadable:
            raise UsageError(f"{self.shown} {found.unreadable}; `restore` brings the round's file back")
        if not found.text.strip():
            raise UsageError(f"{self.shown} is empty; `restore` brings the round's file back")
        return found.text

    @property
    def solved(self) -> bool:
        """Whether the last submission was."""
        return self.report.verdict == "solved"

    def bugs_at(self, line: int) -> list[PlantedBug]:
        """Those that a line of the file, as it is now, belongs to; those first that were not found yet."""
        lines = set(lines_before(self.report.planted, self.source(), line))
        at = [bug for bug in self.report.bugs if lines & set(bug.lines)]
        # what is left out stands on no line of its own
        return sorted(at, key=lambda bug: (bug.mended is not None, bug.found is not None, not bug.was))

    def left_out_of(self, line: int) -> list[PlantedBug]:
        """Those that leave something out of the function in which this line stands: any line may be where it lacks."""
        lines = set(lines_before(self.report.planted, self.source(), line))
        nodes = ast.walk(ast.parse(self.report.planted))
        functions = [set(reach(one)) for one in nodes if isinstance(one, ast.FunctionDef)]
        here = set().union(*(own for own in functions if lines & own))
        return [bug for bug in self.report.bugs if not bug.was and here & set(bug.lines)]

    def made_in(self, line: int) -> set[int]:
        """The known mistakes, by their numbers, that an edit makes where this line of the file stood in a right one."""
        there: set[int] = set()
        for written in lines_before(self.report.planted, self.source(), line):
            there |= stood_for(written, self.bugs)
        return {number for number, lines in self.edited.items() if there & lines}

    @functools.cached_property
    def edited(self) -> dict[int, set[int]]:
        """The lines of the right file that a mistake changes, or next to which it puts others, by its number."""
        names = [one.name for one in self.mistakes]
        return {
            names.index(bug.name): {at for one in bug.changes for at in range(one.first + 1, one.last + 1)}
            or {at for one in bug.changes for at in (one.first, one.first + 1)}
            for bug in bugs_of(self.kata, self.report.slow)
        }

    def region(self, bug: PlantedBug) -> list[tuple[int, str]]:
        """Five lines of the file as it was written, with their numbers; the bug's is somewhere among them."""
        lines = self.report.planted.splitlines()
        before = random.Random(f"{self.report.seed}/{bug.name}").randrange(REGION)
        first = max(min(bug.line - 1 - before, len(lines) - REGION), 0)
        return list(enumerate(lines, start=1))[first : first + REGION]

    def bugs_left(self, text: str) -> Left:
        """Which of them this still has. Raises: Stopped."""
        with stoppable(self.judge):
            self.judge.launcher.judging = True  # what is cut off is no reply
            try:
                return self.planting.left(text, self.bugs)
            finally:
                self.judge.launcher.judging = False

    def pasted(self, text: str) -> str:
        """Why this counts for nothing, in words; "" where it counts.

        The right file without its comments counts, also without a claim: whoever mends each bug exactly has it.
        """
        reference = self.kata.reference_file.read_text(encoding="utf-8")
        name = self.file.name
        commented = reference.split() != self.report.right.split()  # a part of a program may have no comments
        if START in text or (commented and text.split() == reference.split()):
            return (
                f"{name} is the reference from solutions/: pasting it finds no bug and counts for nothing. "
                "`restore` brings the round's file back."
            )
        return ""


def lines_before(written: str, now: str, line: int) -> range:
    """Which lines of the file as it was written, from 1, a line of it now stands for."""
    matcher = difflib.SequenceMatcher(None, written.splitlines(), now.splitlines(), autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if begin < line <= end:
            at = first + line - begin  # of a part that was rewritten, about there
            if kind == "equal":
                return range(at, at + 1)
            return range(max(at - 1, first + 1), min(at + 1, last) + 1) if first < last else range(first, first + 2)
    return range(line, line)

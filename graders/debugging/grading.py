"""A grading within a debug round: the card keeps to itself what fails, since that would be a hint."""

from __future__ import annotations

from typing import NamedTuple

from rich.text import Text

from graders.catalogue.bugs import changes, size
from graders.debugging.debugging import Debugging
from graders.judge.card import WORDS, Card, Row, card_of
from graders.judge.planting import Left
from graders.judge.reporter import COLOURS
from graders.judge.results import Result
from graders.sitting.grading import SittingReporter


class DebugReporter(SittingReporter):
    """Shows the points alone, and why a file cannot be judged."""

    diagnosed = False

    def headline(self, card: Card) -> Text:
        result = card.result
        word = (f"{WORDS[result.state]:5} ", f"bold {COLOURS[result.state]}")
        return Text.assemble(word, f"{result.kata:22} {result.score:3}/{result.max_score}")

    def rows(self, card: Card) -> list[Row]:
        return [("why", card.result.message or "")] if card.result.state == "error" else []

    def show_failure(self, result: Result) -> None:
        """What fails, once that tells nothing of a planted bug."""
        self.show_rows(card_of(result).facts)


class QuietReporter(DebugReporter):
    """Shows only why a file cannot be judged: which file loses points would tell where the bugs are."""

    def show(self, card: Card) -> None:
        if card.result.state == "error":
            super().show(card)


class ExtensionReporter(SittingReporter):
    """Shows a card without the commands for a learner's own file: another one is judged."""

    def commands(self, card: Card) -> list[Row]:
        return []


class Judged(NamedTuple):
    """A submitted file: its bugs that are left, and its result; None where it is the reference itself, pasted."""

    left: Left
    result: Result | None


def judge(one: Debugging, reporter: DebugReporter) -> Judged | None:
    """Judges a file and remembers what came of it; None where there is nothing to judge in it.

    Raises: UsageError, Stopped.
    """
    text, report = one.source(), one.report
    if pasted := one.pasted(text):
        one.say(pasted)
        state, judged = "pasted", Judged(Left(frozenset(bug.name for bug in report.left), new=False), None)
    else:
        result = reporter.of(one.kata, one.file)
        if result.state in ("error", "todo"):
            return None
        state, judged = result.reached, Judged(left_in(one, text, result), result)
    changed = size(changes(report.planted, text))
    left = sorted(judged.left.bugs)
    one.note("submit", state=state, left=left, pasted=bool(pasted), changed=changed, source=text)
    return judged


def left_in(one: Debugging, text: str, result: Result) -> Left:
    """What fails and is no planted bug is new. Raises: Stopped."""
    if result.state == "solved":
        return Left(frozenset(), new=False)
    found = one.bugs_left(text) if one.bugs else Left(frozenset(), new=True)
    return found if found.bugs else Left(frozenset(), new=True)

"""A grading within a debug round: the card keeps to itself what fails, since that would be a hint."""

from __future__ import annotations

from rich.text import Text

from graders.judge.card import WORDS, Card, Row, card_of
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

"""The card in a terminal: one for each failing kata, a line for every other, and the sum."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.judge.card import UNBUDGETED, WORDS, Card, Row, card_of
from graders.judge.results import Result
from graders.judge.run import DEFAULT_SEED
from graders.judge.screen import console, two_columns
from graders.judge.spelling import spelled

COLOURS = {"solved": "green", "core": "cyan", "failing": "red", "error": "red", "todo": "yellow"}
CUT_OFF = "not finished"  # by Ctrl-C


class Reporter:
    """Shows each result as soon as it is complete, and on a terminal what is going on meanwhile."""

    hint = "nox -s hint -- {kata}"

    def __init__(
        self, seed: int, shown: Console | None = None, costs: bool = False, submissions: Sequence[Path] = ()
    ) -> None:
        """`costs` shows what each kata cost, whether it passed or not.

        Several `submissions` are told apart, and what in them a person should look at is shown.
        """
        self.seed = seed
        self.costs = costs
        self.submissions = submissions
        self.console = shown or console()
        self.status = self.console.status("starting") if self.console.is_terminal else None

    def start(self) -> None:
        if self.status:
            self.status.start()

    def stop(self) -> None:
        if self.status:
            self.status.stop()

    def __call__(self, result: Result) -> None:
        if result.done:
            self.show(card_of(result))
        elif self.status:
            self.status.update(f"{result.kata} {len(result.outcomes)}/{result.planned}")

    def show(self, card: Card) -> None:
        self.say(self.headline(card))
        if rows := self.rows(card):
            self.show_rows(rows)

    def say(self, text: Text | Table | Padding | str) -> None:
        self.console.print(text)

    def headline(self, card: Card) -> Text:
        line = Text.assemble(
            (f"{card.word:5} ", f"bold {COLOURS[card.result.reached]}"),
            f"{self.called(card.result):22} {card.points:>7}   ",
        )
        words = card.verdict
        if line.cell_len + cell_len(words) > self.console.width:  # then below, where it is cut off nowhere
            line.rstrip()
            words = f"\n  {words}"
        return line.append(words)

    def called(self, result: Result) -> str:
        """The kata, or the file where several are graded: its name, or its path where two have the same."""
        if len(self.submissions) < 2:
            return result.kata
        names = [path.name for path in self.submissions]
        name = Path(result.source).name
        return name if names.count(name) == 1 else result.source

    def rows(self, card: Card) -> list[Row]:
        several = len(self.submissions) > 1 and bool(card.facts)
        rows = [*[("file", card.result.source)] * several, *card.rows, *self.commands(card)]
        if self.costs:
            rows += [("cost", words) for words in card.costs]
        if self.submissions and card.result.review:
            rows.append(("review", "\n".join(card.result.review)))
        return rows

    def commands(self, card: Card) -> list[Row]:
        """What to type next, where something is to be asked again."""
        if not card.again:
            return []
        rows = [("rerun", self.rerun(card))]
        first = card.result.first_failure
        if first and first.case and not self.submissions:
            rows.append(("debug", f"nox -s run -- {card.result.kata} --case {first.case}"))
        return [*rows, ("hint", self.hint.format(kata=card.result.kata))]

    def rerun(self, card: Card) -> str:
        seed = "" if self.seed == DEFAULT_SEED and not self.submissions else f" --seed {self.seed}"
        file = f" --submission {shlex.quote(card.result.source)}" if self.submissions else ""
        return f"nox -s grade -- {card.result.kata} -k {shlex.quote(card.again)}{seed}{file}"

    def show_rows(self, rows: list[Row]) -> None:
        spelt = ((label, spelled(text, self.console.encoding)) for label, text in rows)
        self.say(Padding(two_columns(spelt), (0, 0, 1, 2)))

    def summary(self, results: list[Result], learner: bool) -> None:
        """The sum, and for a learner what to do next."""
        states = [result.reached if result.done else CUT_OFF for result in results]
        counts = [f"{states.count(state)} {state}" for state in (*WORDS, CUT_OFF) if state in states]
        score, most = sum(result.score for result in results), sum(result.max_score for result in results)
        points = f"; score {score}/{most}" if all(one.fully_asked or one.todo for one in results) else ""
        if len(results) > 1:
            self.say(Text(f"\n{', '.join(counts)}{points}"))
        if len(results) > 1 and any(not result.budgeted and not result.todo for result in results):
            self.say(Text(f"cost: {UNBUDGETED}"))
        waiting = sorted((r for r in results if r.todo), key=lambda result: result.rank)
        if learner and waiting and not {"failing", "core"} & {*states}:
            self.say(Text(f"next: open {waiting[0].source}, then run\n  nox -s grade -- {waiting[0].kata}"))

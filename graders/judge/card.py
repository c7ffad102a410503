"""What a person sees in the terminal: a card for each failing kata, a line for every other, and the sum."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graders.judge import listing
from graders.judge.budgets import NOUNS, megabytes
from graders.judge.left import left_over
from graders.judge.results import AND, KEPT, Result
from graders.judge.run import DEFAULT_SEED
from graders.judge.spelling import spelled

WORDS = {
    "solved": ("PASS", "green"),
    "core": ("CORE", "cyan"),
    "failing": ("FAIL", "red"),
    "error": ("ERROR", "red"),
    "todo": ("TODO", "yellow"),
}
CUT_OFF = "not finished"  # by Ctrl-C
WIDTH = 80
FOLDED = 20  # columns, below which folded words cannot be read
UNBUDGETED = "not measured; budgets are multiples of the reference's cost, and solutions/ is not here"
BETTER = 0.8  # of what the reference needs
PARTIAL = "partial"  # in the place of the points: of some of the checks they mean nothing
MOST_PRINTED = 5  # lines on a card
LONGEST_PRINTED = 500  # characters that a worker sends back of what a call printed


class Screen(Console):
    """A console that stops the work, as Ctrl-C does, when nobody reads what it says any more: `nox -s grade | head`."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        raise KeyboardInterrupt


def console(stderr: bool = False) -> Console:
    """80 columns or what the terminal has; colour only on a terminal and without NO_COLOR."""
    made = Screen(file=sys.stderr if stderr else sys.stdout, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH
    return made


class Fitting(Table):
    """A table that gives each row lines of its own where the terminal is too narrow for its columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.needed <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        for first, *rest in zip(*(column.cells for column in self.columns), strict=True):
            yield first
            cells = zip(self.columns[1:], map(str, rest), strict=True)
            facts = [f"{column.header} {cell}".strip() for column, cell in cells if cell not in ("", "-")]
            if facts:
                yield Padding(Text(", ".join(facts)), (0, 0, 0, 4))

    @property
    def needed(self) -> int:
        """Its width; what may be folded counts for no more than FOLDED."""
        longest = [max(cell_len(str(cell)) for cell in (column.header, *column.cells)) for column in self.columns]
        pairs = zip(longest, self.columns, strict=True)
        _, right, _, left = self.padding
        return sum(left + right + (width if column.no_wrap else min(width, FOLDED)) for width, column in pairs)


def table(*headings: str) -> Table:
    """Numbers stand to the right; headings that end in a dot are of words."""
    made = Fitting(box=None, padding=(0, 1))
    for heading in headings:
        made.add_column(heading.rstrip("."), justify="left" if heading.endswith(".") else "right", no_wrap=True)
    return made


class Reporter:
    """Shows each result as soon as it is complete, and on a terminal what is going on meanwhile."""

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
        if not result.complete:
            if self.status:
                self.status.update(f"{result.kata} {len(result.outcomes)}/{result.planned}")
            return
        rows = self.rows(result) if result.state in ("failing", "error") else []
        if self.costs:
            rows += [("cost", words) for words in costs_in_words(result)]
        if self.submissions and result.review:
            rows.append(("review", "\n".join(result.review)))
        self.console.print(self.headline(result))
        if rows:
            self.show(rows)

    def say(self, text: Text | Table | Padding | str) -> None:
        self.console.print(text)

    def headline(self, result: Result) -> Text:
        word, colour = WORDS[result.reached]
        if result.state == "todo" and not result.todo:
            word = "PART"
        points = f"{result.score:3}/{result.max_score}" if result.fully_asked or result.todo else PARTIAL
        line = Text.assemble((f"{word:5} ", f"bold {colour}"), f"{self.called(result):22} {points:>7}   ")
        words = self.verdict(result)
        if line.cell_len + cell_len(words) > self.console.width:  # then below, where it is cut off nowhere
            line.rstrip()
            words = f"\n  {words}"
        return line.append(words)

    def verdict(self, result: Result) -> str:
        """The words behind the points."""
        first = result.first_failure
        if result.state == "solved":
            return f"{result.planned} checks in {result.seconds:.1f} s"
        if result.state == "todo":
            return result.message or ""
        if result.reached == "core":
            where = "right on the CPU" if all(one.on_gpu for one in result.failures) else "the mathematics is right"
            count = len(result.failures)
            return f"{where}; {count} check{'s' if count > 1 else ''} to go"
        if first is None or result.error:
            return ""
        return "the rules are broken" if first.breaks_the_rules else f"first failure: {first.name.partition('/')[2]}"

    def called(self, result: Result) -> str:
        """The kata, or the file where several are graded: its name, or its path where two have the same."""
        if len(self.submissions) < 2:
            return result.kata
        names = [path.name for path in self.submissions]
        name = Path(result.source).name
        return name if names.count(name) == 1 else result.source

    def show(self, rows: list[tuple[str, str]]) -> None:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in rows:
            table.add_row(label, Text(spelled(text, self.console.encoding)))
        self.say(Padding(table, (0, 0, 1, 2)))

    def rows(self, result: Result) -> list[tuple[str, str]]:
        rows = [("file", result.source)] if len(self.submissions) > 1 else []
        first = result.first_failure
        if result.message or first is None:
            return [*rows, ("why", result.message or "")]
        if not result.fully_asked:
            asked = sum(outcome.state != "skipped" for outcome in result.outcomes)
            rows.append(("tested", f"{asked} of {result.planned} checks; run all of them for a verdict and a score"))
        if result.reached == "core":
            gradients = " and gradients" * any(outcome.category == "gradients" for outcome in result.outcomes)
            rows += [("right", f"values{gradients} of all ordinary cases"), *left_over(result)]
            return [*rows, *self.what_next(result, "not core")]
        call, code = listing.split(first.call)
        label, _, fact = (first.message or "").partition(": ")
        why = (label, fact) if len(label) <= 24 and fact else ("why", first.message or "")
        code = listing.folded(code, first.message or "")
        rows += [row for row in (("call", call), ("given", first.given), why, ("code", code)) if row[1] or row is why]
        if first.output.strip():
            rows.append(("printed", printed(first.output)))
        counts = Counter("not tested" if outcome.given_up else outcome.category for outcome in result.failures)
        if counts.total() > 1:
            rows.append(("failing", ", ".join(f"{count} {what}" for what, count in counts.items())))
        if first.breaks_the_rules and result.fully_asked:
            rows.append(("points", f"only for {' and '.join(KEPT)}, while the rules are broken"))
        parts = first.name.split("/")
        return [*rows, *self.what_next(result, parts[1] if len(parts) > 1 else parts[0])]

    def what_next(self, result: Result, words: str) -> list[tuple[str, str]]:
        """What it looks like, and what to do: `words` select the checks to ask again."""
        rows = [("looks like", result.diagnosis.replace(AND, "\nand "))] if result.diagnosis else []
        rows.append(("rerun", self.rerun(result, shlex.quote(words))))
        first = result.first_failure
        if first and first.case and not self.submissions:
            rows.append(("debug", f"nox -s run -- {result.kata} --case {first.case}"))
        return [*rows, ("hint", f"nox -s hint -- {result.kata}")]

    def rerun(self, result: Result, words: str) -> str:
        seed = "" if self.seed == DEFAULT_SEED and not self.submissions else f" --seed {self.seed}"
        file = f" --submission {shlex.quote(result.source)}" if self.submissions else ""
        return f"nox -s grade -- {result.kata} -k {words}{seed}{file}"

    def summary(self, results: list[Result], learner: bool) -> None:
        """The sum, and for a learner what to do next."""
        states = [result.reached if result.complete else CUT_OFF for result in results]
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


def printed(output: str) -> str:
    """The first lines of what a call printed, and whether there were more."""
    lines = output.strip("\n").splitlines()
    more = ["… (it printed more)"] if len(lines) > MOST_PRINTED or len(output) >= LONGEST_PRINTED else []
    return "\n".join(lines[:MOST_PRINTED] + more)


def costs_in_words(result: Result) -> list[str]:
    """A line for each budget that was asked, or why none was."""
    if not result.budgeted and result.state in ("solved", "failing"):
        return [UNBUDGETED]
    return [*map(cost_in_words, result.costs, result.costs.values())]


def cost_in_words(budget: str, figures: Mapping[str, tuple[float, float]]) -> str:
    """`many_rows: 38 operators (reference 40), 4.2 MB in use (4.2 MB), 3.1 times the reference's time`"""
    parts = []
    if "operators" in figures:
        parts.append("{:,.0f} operators (reference {:,.0f})".format(*figures["operators"]))
    if "peak" in figures:
        parts.append("{} in use ({})".format(*map(megabytes, figures["peak"])))
    if "time" in figures:
        parts.append(f"{figures['time'][0]:.1f} times the reference's time")
    better = [NOUNS[figure] for figure, (own, reference) in figures.items() if own < BETTER * reference]
    return f"{budget}: {', '.join(parts)}" + (
        f"; better than the reference in {' and '.join(better)}" if better else ""
    )

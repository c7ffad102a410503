"""What is told of a result, as data: terminal, page, notebook and feedback each show a Card in their own way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from graders.judge import listing
from graders.judge.budgets import NOUNS, megabytes
from graders.judge.left import left_over
from graders.judge.results import AND, KEPT, Result

WORDS = {"solved": "PASS", "core": "CORE", "failing": "FAIL", "error": "ERROR", "todo": "TODO"}
UNBUDGETED = "not measured; budgets are multiples of the reference's cost, and solutions/ is not here"
BETTER = 0.8  # of what the reference needs
PARTIAL = "partial"  # in the place of the points: of some of the checks they mean nothing
MOST_PRINTED = 5  # lines on a card
MOST_MESSAGES = 12  # between ranks, a line each: four ranks send as many in a ring, once round
LONGEST_PRINTED = 500  # characters that a worker sends back of what a call printed
Row = tuple[str, str]  # label and text


@dataclass(frozen=True)
class Card:
    """What is told of a result.

    Args:
        word: PASS, CORE, FAIL, ERROR, TODO, or PART where only some checks were asked, and passed.
        points: earned and possible ones.
        verdict: the words behind the points.
        facts: what failed first and how, or where the mathematics is right, all that is left.
        looks_like: the mistakes that it behaves like, a line each.
        again: a word that selects what failed, for `-k`; "" where that is not to be asked again.
        costs: a line for each budget, or why there is none.
    """

    result: Result
    word: str
    points: str
    verdict: str
    facts: list[Row]
    looks_like: str
    again: str
    costs: list[str]

    @property
    def rows(self) -> list[Row]:
        return [*self.facts, *[("looks like", self.looks_like)] * bool(self.looks_like)]


def card_of(result: Result) -> Card:
    failed = result.state in ("failing", "error")
    facts, again = facts_of(result) if failed else ([], "")
    return Card(
        result,
        "PART" if result.state == "todo" and not result.todo else WORDS[result.reached],
        f"{result.score}/{result.max_score}" if result.fully_asked or result.todo else PARTIAL,
        verdict_of(result),
        facts,
        (result.diagnosis or "").replace(AND, "\nand ") if again else "",
        again,
        costs_in_words(result),
    )


def verdict_of(result: Result) -> str:
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


def facts_of(result: Result) -> tuple[list[Row], str]:
    """And a word that selects the checks to ask again."""
    first = result.first_failure
    if result.message or first is None:
        return [("why", result.message or "")], ""
    rows = []
    if not result.fully_asked:
        asked = sum(outcome.state != "skipped" for outcome in result.outcomes)
        rows.append(("tested", f"{asked} of {result.planned} checks; run all of them for a verdict and a score"))
    if result.reached == "core":
        gradients = " and gradients" * any(outcome.category == "gradients" for outcome in result.outcomes)
        return [*rows, ("right", f"values{gradients} of all ordinary cases"), *left_over(result)], "not core"
    call, code = listing.split(first.call)
    label, _, fact = (first.message or "").partition(": ")
    why = (label, fact) if len(label) <= 24 and fact else ("why", first.message or "")
    code = listing.folded(code, first.message or "")
    rows += [row for row in (("call", call), ("given", first.given), why, ("code", code)) if row[1] or row is why]
    if first.messages:
        more = len(first.messages) - MOST_MESSAGES
        rows.append(("messages", "\n".join([*first.messages[:MOST_MESSAGES], *[f"… and {more} more"] * (more > 0)])))
    if first.output.strip():
        rows.append(("printed", printed(first.output)))
    counts = Counter("not tested" if outcome.given_up else outcome.category for outcome in result.failures)
    if counts.total() > 1:
        rows.append(("failing", ", ".join(f"{count} {what}" for what, count in counts.items())))
    if first.breaks_the_rules and result.fully_asked:
        rows.append(("points", f"only for {' and '.join(KEPT)}, while the rules are broken"))
    parts = first.name.split("/")
    return rows, parts[1] if len(parts) > 1 else parts[0]


def printed(output: str, most: int = MOST_PRINTED) -> str:
    """The first lines of what a call printed, and whether there were more."""
    lines = output.strip("\n").splitlines()
    more = ["… (it printed more)"] if len(lines) > most or len(output) >= LONGEST_PRINTED else []
    return "\n".join(lines[:most] + more)


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

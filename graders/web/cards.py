"""The card of a verdict as HTML: what the terminal shows, and the points of each category as bars."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graders.desk import status
from graders.desk.verdicts import Verdict
from graders.judge.card import card_of
from graders.judge.results import Result
from graders.kata.spec import CATEGORIES
from graders.pages import environment
from graders.report.page import WORDS
from graders.web import HERE
from graders.web.messages import sequence_of

LINE = re.compile(r"\(line (\d+): `")
TEMPLATES = environment(HERE)


@dataclass(frozen=True)
class Bar:
    """What a category earned, of how many points."""

    category: str
    earned: int
    most: int


def card(verdict: Verdict, desk: status.Desk, after: str) -> str:
    """Whatever a submission has put into it is text: the template escapes all that it shows.

    `after` is the title of the kata that comes next.
    """
    return TEMPLATES.get_template("card.html.jinja").render(
        verdict=verdict,
        card=card_of(verdict.result) if verdict.result else None,
        smallest=[("smallest", verdict.smallest.text)] if verdict.smallest else [],
        bars=bars_of(verdict.result) if verdict.result else [],
        next=what_next(verdict, desk),
        after=after,
        sequence_of=sequence_of,
    )


def bars_of(result: Result) -> list[Bar]:
    of = {name: [one for one in result.outcomes if one.category == name] for name in CATEGORIES}
    return [
        Bar(name, sum(result.earned(outcomes)), sum(one.points for one in outcomes))
        for name, outcomes in of.items()
        if any(one.points for one in outcomes) and not result.todo
    ]


def line_of(result: Result) -> int | None:
    """The line of the file that the card is about, if it names one."""
    first = result.first_failure
    found = LINE.search(result.message or (first.message if first else None) or "")
    return int(found[1]) if found else None


def what_next(verdict: Verdict, desk: status.Desk) -> str:
    result = verdict.result
    if result is None:
        return ""
    if result.todo:
        return "Read the statement, then write it here. Run, or Ctrl-Enter, judges it."
    if result.state == "solved":
        due = desk.progress[result.kata].due
        again = f", and it comes back for review {status.when(due, desk.at)}" if due else ""
        return f"Solved{again}. Below the statement is what an interviewer asks next."
    if result.reached == "core":
        return "The mathematics is right. Below the statement is what an interviewer asks next."
    return ""


def fact(desk: status.Desk, name: str) -> str:
    """What matters now about a kata, in a few words."""
    one, about, word = desk.progress[name], desk.katas[name].about, desk.word(name)
    if word == "later":
        needed = next(other for other in about.after if other in desk.katas and not desk.progress[other].core)
        return f"after {desk.katas[needed].about.title}"
    if word == "todo":
        return f"{about.minutes} min"
    if one.due is None or desk.lapsed(name):
        return f"{one.score} points, {WORDS[word]}"
    return f"{one.best} points, review {status.when(one.due, desk.at)}"

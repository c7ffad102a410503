"""`report`: one HTML page of all that a learner did here, readable without a network."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from urllib.parse import quote

import jinja2

from graders import pages
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.catalogue.texts import Question
from graders.debugging import card as debugging
from graders.desk import progress
from graders.desk.debugged import debug_rounds
from graders.desk.goal import Goal, recall
from graders.desk.progress import RATINGS, Progress
from graders.desk.state import Event, State
from graders.desk.status import Desk, groups, overview
from graders.faults import GraderError, UsageError
from graders.files import make_room, replace_file
from graders.interview import marks, record
from graders.interview.record import InterviewReport
from graders.judge import checks
from graders.judge.checks import POINTS
from graders.kata.spec import CATEGORIES
from graders.report import charts, habits, picture, tally
from graders.report.tally import Cell
from graders.sitting import clock

RECENT = 20
FOLDED = 10  # interviews, from which on earlier ones are folded away
LONGEST = 20_000  # characters of what a learner wrote
VERDICTS = {
    "solved": "solved",
    "core": "core right",
    "failing": "failing",
    "error": "cannot be imported",
    "todo": "in part",
    "unjudged": "kept, not judged",
}
WORDS = VERDICTS | {"todo": "to do", "later": "to do later", "again": "to do again"}
MARKS = {"solved": "✓", "core": "◐", "failing": "✗", "error": "!", "todo": "○", "later": "◌", "again": "↻"}


def main(options: argparse.Namespace, root: Path) -> int:
    if options.picture:
        return picture.main(options.picture, root)
    output = (options.output or root / ".kata" / "report.html").resolve()
    make_room(output, "name another file with --output")
    with contextlib.closing(State(root)) as state:
        page = page_of(state, katas.all_katas(root), lambda file: address(file, output.parent))
    replace_file(output, page)
    print(f"wrote {output}; open {output.as_uri()}")
    for note in state.notes:
        print(f"note: {note}", file=sys.stderr)
    return 0


def page_of(
    state: State, chosen: list[Kata], address: Callable[[Path], str], ways: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The report as HTML: equal for equal events on one day, but for the line that says when it was written.

    `address` says where a statement or an answer is. `ways` lead to other pages: names and addresses.
    """
    desk = overview(state, chosen)
    everything = state.events()
    events = [event for event in everything if event.kata in desk.katas]
    days = tally.days(events, list(desk.katas))
    today = desk.at.astimezone().date()
    later = coming(desk)
    looked_ahead = habits.due_by_day([*desk.due, *later], today)
    made = [event for event in events if event.kind == "attempt"]
    interviews = record.reports(everything)
    topics = groups(desk, False, chosen)
    page = environment().get_template("report.html.jinja")
    return page.render(
        desk=desk,
        words=WORDS,
        marks=MARKS,
        address=address,
        ways=ways,
        verdicts=VERDICTS,
        ratings=RATINGS,
        most=POINTS * len(desk.katas),
        due=desk.due,
        coming=later,
        soon=[one for one in later if any(one.kata in names for names in looked_ahead.values())],
        ahead=habits.AHEAD.days,
        today=today,
        months=habits.months(days, looked_ahead, today),
        firsts=habits.firsts(events, desk.katas, desk.progress),
        at_once=habits.AT_ONCE,
        recalls=[recall for one in desk.progress.values() for recall in one.recalls],
        stumbles=habits.stumbles(made),
        topics=topics,
        readiness=readiness(desk, desk.goal, topics) if desk.goal else {},
        asked=follow_ups([kata for kata in chosen if desk.progress[kata.id].core]),
        weeks=tally.weeks(days),
        # once all is solved, its line says nothing any more
        chart=charts.PointsChart(days) if len(days) > 1 and desk.next else None,
        categories=CATEGORIES,
        checks={topic: {kata.id: cells(kata, made) for kata in group} for topic, group in topics.items()},
        total=tally.total,
        prices=tally.prices(made, list(desk.katas)),
        interviews=interviews[::-1],
        folded=FOLDED,
        mark_headings=[f">{name}" for name in marks.MARKS],
        marked=marks.trend(interviews)[::-1],
        by_kata={name: done for name, done in marks.by_kata(interviews).items() if len(done) > 1},
        debriefs=debriefs(interviews, desk),
        most_self=record.MOST_SELF,
        debugged=[*enumerate(debug_rounds(everything), start=1)][::-1],
        recent=recent(made),
        count=len(made),
        zones=zones([desk.at, *(event.at for event in everything)]),
    )


def address(file: Path, folder: Path) -> str:
    try:
        return quote(Path(os.path.relpath(file, folder)).as_posix())
    except ValueError:  # on another drive of Windows
        return file.as_uri()


def readiness(desk: Desk, goal: Goal, topics: Mapping[str, list[Kata]]) -> dict[str, tuple[int, int, float]]:
    """By topic: katas that were solved, all of them, and the share that should be known on the day of the goal."""
    made = {}
    for topic, group in topics.items():
        known = [desk.progress[kata.id] for kata in group]
        made[topic] = (sum(one.solved > 0 for one in known), len(known), mean(recall(goal, one) for one in known))
    return made


def debriefs(found: Sequence[InterviewReport], desk: Desk) -> dict[str, str]:
    """Of the interviews that ended, by their ids, with headings that fit below those of the page."""
    if not any(one.ended for one in found):
        return {}
    from graders.interview.debrief import debrief  # it imports scikit-learn, which takes a second

    made = {}
    for number, one in enumerate(found, start=1):
        with contextlib.suppress(UsageError, GraderError):
            text = debrief(one, number, desk.katas) if one.ended else ""
            made[one.id] = re.sub(r"^##", "###", text.partition("\n")[2], flags=re.MULTILINE)
    return made


def follow_ups(right: Sequence[Kata]) -> dict[str, list[Question]]:
    """Those of each kata, where they are still there."""
    found: dict[str, list[Question]] = {}
    for kata in right:
        with contextlib.suppress(UsageError):
            found[kata.id] = texts.follow_ups(kata)
    return found


def coming(desk: Desk) -> list[Progress]:
    """What is due after today, the soonest first."""
    waiting = progress.due(desk.progress, datetime.max.replace(tzinfo=UTC))
    return [one for one in waiting[len(desk.due) :] if not desk.lapsed(one.kata)]


def cells(kata: Kata, made: Sequence[Event]) -> dict[str, Cell]:
    judged = [event for event in made if event.kata == kata.id and event.is_judged]
    return tally.standing(judged, checks.plan(kata.grader, kata.module, with_budgets=kata.reference_file.exists()))


@dataclass(frozen=True)
class Attempt:
    """An attempt as the page shows it; its number is the one that `history` knows it by."""

    number: int
    event: Event

    @property
    def verdict(self) -> str:
        return VERDICTS[progress.reached(self.event)]

    @property
    def failed(self) -> dict[str, int]:
        """How many checks failed, by category."""
        names = [name.partition("/")[0] for name in self.event.body["failed"]]
        return {category: names.count(category) for category in CATEGORIES if category in names}


def recent(made: Sequence[Event]) -> list[Attempt]:
    """The newest first."""
    counts: dict[str, int] = {}
    numbered = []
    for event in made:
        counts[event.kata] = counts.get(event.kata, 0) + 1
        numbered.append(Attempt(counts[event.kata], event))
    return numbered[: -RECENT - 1 : -1]


def environment() -> jinja2.Environment:
    made = pages.environment(Path(__file__).parent)
    made.filters |= {
        "short": short,
        "clock": clock.in_words,
        "overall": marks.overall,
        "place": charts.place,
        "doublings": charts.doublings,
        "words": charts.words,
        "became": debugging.became,
        "sums": debugging.sums,
        "diff": debugging.changed,
    }
    return made


def short(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "\n… and so on"


def zones(times: Sequence[datetime]) -> list[str]:
    """The names of the zones that the times shown are in: two where clocks were changed between them."""
    found = {(local.tzname(), local.isoformat()[-6:]) for local in (at.astimezone() for at in times)}
    return sorted(name if name == "UTC" else f"{name} (UTC{offset})" for name, offset in found if name)

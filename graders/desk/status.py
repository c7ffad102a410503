"""`status`: the map of topics and katas, and what to do next."""

from __future__ import annotations

import argparse
import json
from collections.abc import Container
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from graders.catalogue import katas
from graders.catalogue.katas import ASKED, Kata
from graders.desk import debugged, progress
from graders.desk.debugged import Practice, debug_rounds, practices
from graders.desk.goal import Goal, goal_of, limit_of, reviewed_on, set_last_looks
from graders.desk.progress import Progress
from graders.desk.state import State, stamp
from graders.faults import UsageError
from graders.judge import screen
from graders.judge.checks import POINTS

COLUMNS = ("kata", "state", "score", "tries", "hints", "cost", "due", "asked")
WIDE = {"tries": 72, "hints": 72, "cost": 72, "asked": 90}  # they are left out of a terminal that is less
COLOURS = {"solved": "green", "core": "cyan", "failing": "red", "error": "red", "later": "dim"}


def main(options: argparse.Namespace, root: Path) -> int:
    state = State(root)
    desk = overview(state, katas.on_path_to(options.path, root))
    named = katas.find(options.katas, root)
    console = screen.console()
    if options.json:
        print(json.dumps(document(desk, named), indent=1))
    else:
        if options.path:
            console.print(Text(katas.goals(root)[options.path][0], style="bold"))
        show(desk, console, named, options.path, options.asked)
    for note in state.notes:
        screen.console(stderr=True).print(f"note: {note}", soft_wrap=True)
    state.close()
    return 0


@dataclass
class Desk:
    """All katas, and how far their learner has come, at one time."""

    katas: dict[str, Kata]
    progress: dict[str, Progress]
    at: datetime
    goal: Goal | None = None
    a_day: int | None = None  # how many reviews a day may have
    debugged: dict[str, Practice] = field(default_factory=dict)  # by kata, where there was a debug round

    @property
    def due(self) -> list[Progress]:
        """What is due by the end of the day and has room in it, the longest due first."""
        return self.waiting if self.a_day is None else self.waiting[: max(self.a_day - self.reviewed, 0)]

    @property
    def to_debug(self) -> list[str]:
        """The katas that a debug round is due at by the end of the day, the longest first."""
        return debugged.due(self.debugged, end_of_day(self.at))

    @property
    def waiting(self) -> list[Progress]:
        """What is due by the end of the day, the longest due first."""
        return progress.due(self.progress, end_of_day(self.at))

    @property
    def reviewed(self) -> int:
        """How many reviews there were today."""
        return reviewed_on(self.progress, self.at.astimezone().date())

    @property
    def order(self) -> list[str]:
        """As a learner should take them: the easy ones first."""
        return sorted(self.katas, key=lambda name: self.katas[name].rank)

    @property
    def next(self) -> str | None:
        """The first whose core was never right, begun ones first, then the first never solved; None where none is."""
        unsolved = [name for name in self.order if not self.progress[name].solved]
        waiting = [name for name in unsolved if not self.progress[name].core]
        begun = [name for name in waiting if self.progress[name].state in ("failing", "error")]
        return next(iter(begun or waiting or unsolved), None)

    def next_after(self, name: str) -> str | None:
        """Where somebody goes on who solved a kata: in its topic, where one is left that builds on nothing unsolved."""
        here = [one for one in self.order if self.katas[one].topic == self.katas[name].topic]
        return next((one for one in here if not self.progress[one].core and self.unlocked(one)), self.next)

    def next_on_path(self, name: str) -> str | None:
        """The next kata on the path whose core is not right, or where none is left, that is not solved."""
        others = [one for one in self.order if one != name]
        unsolved = [one for one in others if self.progress[one].state != "solved"]
        waiting = [one for one in unsolved if self.progress[one].state != "core"] or unsolved
        after = [one for one in waiting if self.order.index(one) > self.order.index(name)]
        return next(iter(after or waiting), None)

    def unlocked(self, name: str, also: str = "") -> bool:
        """Whether the core of all that it builds on is right, and of `also`. Nobody is kept from going on anyway."""
        needed = [one for one in self.katas[name].about.after if one in self.katas]
        return all(self.progress[one].core or one == also for one in needed)

    def lapsed(self, name: str) -> bool:
        """Whether it was solved, and the last attempt at it failed: when it will be due again says nothing then."""
        one = self.progress[name]
        return one.due is not None and one.due > end_of_day(self.at) and one.state in ("failing", "error")

    @property
    def counted(self) -> str:
        """`31 core, 24 solved of 43`: the solved ones count in both."""
        found = self.progress.values()
        core, solved = sum(one.core for one in found), sum(one.solved > 0 for one in found)
        return f"{core} core, {solved} solved of {len(self.katas)}"

    def unlocks(self, name: str) -> list[str]:
        """What getting its core right would unlock."""
        return [one for one in self.order if not self.unlocked(one) and self.unlocked(one, also=name)]

    def word(self, name: str) -> str:
        one = self.progress[name]
        if one.state == "todo" and one.solved:
            return "again"
        return "later" if one.state == "todo" and not self.unlocked(name) else one.state


def overview(state: State, chosen: list[Kata]) -> Desk:
    names = [kata.id for kata in chosen]
    events, at = state.events(), state.now()
    found = progress.progress_of(events, names)
    goal = goal_of(events, at.astimezone().date())
    if goal:
        set_last_looks(goal, found)
    rounds = [one for one in debug_rounds(events) if one.kata in found]
    return Desk(dict(zip(names, chosen, strict=True)), found, at, goal, limit_of(events), practices(rounds))


def after_solving(kata: str, root: Path) -> str:
    """Which kata is next, for the line below a card; nothing where that is not known, or none is left."""
    try:
        state = State(root)
    except UsageError:
        return ""  # that nothing can be remembered was said
    try:
        desk = overview(state, katas.all_katas(root))
    finally:
        state.close()
    after = desk.next_after(kata)
    if after is None:
        return ""
    return f"next: open {desk.katas[after].answer_file.relative_to(root)}, then run\n  nox -s grade -- {after}"


def groups(desk: Desk, asked: bool, named: Container[Kata]) -> dict[str, list[Kata]]:
    """These katas by topic, or by how often they are asked; in each group as a learner should take them."""
    made: dict[str, list[Kata]] = {one: [] for one in ASKED} if asked else {}
    for kata in (one for one in desk.katas.values() if one in named):
        made.setdefault((kata.about.asked or "no report known") if asked else kata.topic, []).append(kata)
    return {name: sorted(group, key=lambda kata: kata.rank) for name, group in made.items() if group}


def show(desk: Desk, console: Console, named: Container[Kata], goal: str | None = None, asked: bool = False) -> None:
    table = screen.Fitting(box=None, padding=(0, 1), pad_edge=False)
    headings = [one for one in COLUMNS if console.width >= WIDE.get(one, 0)]
    for heading in headings:
        left = heading in ("kata", "state", "due", "asked")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for name, group in groups(desk, asked, named).items():
        table.add_row(Text(name, style="bold"))
        for kata in group:
            cells = row(desk, kata.id)
            table.add_row(*(cells[heading] for heading in headings))
    console.print(table)
    points = sum(one.best for one in desk.progress.values())
    console.print(Text(f"\n{desk.counted}; best scores {points}/{POINTS * len(desk.katas)}"))
    if desk.due:
        names = ", ".join(one.kata for one in desk.due)
        console.print(Text(f"due today: {names}\n  nox -s review"))
    for line in debugging(desk):
        console.print(Text(line))
    if desk.next:
        opened = desk.unlocks(desk.next)
        unlocks = f", which unlocks {', '.join(opened)}" if opened else ""
        on = f"--path {goal}" if goal else desk.next
        console.print(Text(f"next: {desk.next}{unlocks}\n  nox -s watch -- {on}"))


def debugging(desk: Desk) -> list[str]:
    """How debug rounds went, and what is due for one; nothing where there was none."""
    counts = [one.counts for one in desk.debugged.values()]
    total = {name: sum(one[name] for one in counts) for name in (counts[0] if counts else ())}
    lines = []
    if total.get("rounds"):
        became = ", ".join(f"{total[name]} {name}" for name in ("found", "explained", "mended"))
        lines.append(f"debug rounds: {total['rounds']}; of {total['bugs']} bugs {became}")
    if desk.to_debug:
        lines.append(f"due for a debug round: {', '.join(desk.to_debug)}\n  nox -s debug -- {desk.to_debug[0]}")
    return lines


def row(desk: Desk, name: str) -> dict[str, Text]:
    one, word = desk.progress[name], desk.word(name)
    return {
        "kata": Text(f"  {name}"),
        "state": Text(word, style=COLOURS.get(word, "")),
        "score": Text(f"{one.best or '-'}"),
        "tries": Text(f"{one.attempts or '-'}"),
        "hints": Text(f"{one.known or '-'}"),
        "cost": Text("-" if one.cost is None else f"{one.cost:.1f}x"),
        "due": Text("fails now" if desk.lapsed(name) else "-" if one.due is None else when(one.due, desk.at)),
        "asked": Text(desk.katas[name].about.asked or "-"),
    }


def document(desk: Desk, named: Container[Kata]) -> dict[str, Any]:
    due = [one.kata for one in desk.due]
    return {
        "version": 1,
        "core": sum(one.core for one in desk.progress.values()),
        "solved": sum(one.solved > 0 for one in desk.progress.values()),
        "katas": [
            {
                "kata": name,
                "topic": kata.topic,
                "level": kata.about.level,
                "asked": kata.about.asked or None,
                "state": "failing" if desk.progress[name].state == "core" else desk.progress[name].state,
                "core": desk.progress[name].core,
                "score": desk.progress[name].score,
                "best_score": desk.progress[name].best,
                "max_score": POINTS,
                "attempts": desk.progress[name].attempts,
                "solved": desk.progress[name].solved,
                "hints": desk.progress[name].known,
                "cost": desk.progress[name].cost,
                "due": None if (at := desk.progress[name].due) is None else stamp(at),
                "due_today": name in due,
                "unlocked": desk.unlocked(name),
                "unlocks": desk.unlocks(name),
                "debug": debug_document(desk.debugged.get(name)),
            }
            for name, kata in desk.katas.items()
            if kata in named
        ],
        "due": due,
        "due_to_debug": desk.to_debug,
        "next": desk.next,
    }


def debug_document(one: Practice | None) -> dict[str, Any] | None:
    return one.counts | {"due": stamp(one.due) if one.due else None} if one else None


def end_of_day(at: datetime) -> datetime:
    """Where the learner is."""
    return at.astimezone().replace(hour=23, minute=59, second=59, microsecond=999_999)


def when(due: datetime, at: datetime) -> str:
    """In days of the learner's calendar."""
    days = (due.astimezone().date() - at.astimezone().date()).days
    if days > 0:
        return "tomorrow" if days == 1 else f"in {days} days"
    return "today" if days == 0 else f"{-days} day{'s' if days < -1 else ''} late"

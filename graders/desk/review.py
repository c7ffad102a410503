"""`review`: what is due today by FSRS, from how each kata went; the history's way to another computer and back."""

from __future__ import annotations

import argparse
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.goal import goal_of, plan, without_last_look
from graders.desk.progress import RATINGS
from graders.desk.state import State
from graders.desk.status import Desk, overview, when
from graders.faults import UsageError
from graders.files import replace_file
from graders.judge import screen

VIA = "review"
FARTHEST = timedelta(days=3650)  # of a day to plan for: each day until then is planned


def main(options: argparse.Namespace, root: Path) -> int:
    state = State(root)
    console = screen.console()
    try:
        if options.export or options.merge:
            exchange(state, options.export, options.merge)
            return 0
        chosen = katas.all_katas(root)
        if options.until is not None or options.a_day is not None:
            aim(state, options.until, options.a_day)
            show_plan(overview(state, chosen), console)
            return 0
        attempts.bring_all_home(state, chosen)
        desk = overview(state, chosen)
        if not desk.due:
            console.print(Text(nothing(desk)))
        elif options.list:
            show(desk, console)
        else:
            start(state, desk, console, options.todo)
        if desk.to_debug:
            names = ", ".join(desk.to_debug)
            console.print(Text(f"\ndue for a debug round: {names}\n  nox -s debug -- {desk.to_debug[0]}"))
        return 0
    finally:
        for note in state.notes:  # of a clock that is behind: it explains a day that is refused, too
            console.print(Text(f"note: {note}"))
        state.close()


def exchange(state: State, export: Path | None, merge: Path | None) -> None:
    """Imports first, so that both together make one file of two. Raises: UsageError."""
    if merge:
        try:
            text = merge.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{merge} cannot be read ({error}); name a file that --export wrote") from None
        print(f"{state.merge(text)} of {len(text.splitlines())} events of {merge} are new here")
    if export:
        replace_file(export.absolute(), state.export())
        print(f"wrote {len(state.events())} events to {export}")


def aim(state: State, day: str | None, a_day: str | None) -> None:
    """Sets the day that is practised for, how many reviews a day may have, or both. Raises: UsageError."""
    today = state.now().astimezone().date()
    goal = goal_of(state.events(), today)
    body: dict[str, Any] = {"until": f"{goal.until}" if goal else None}
    if day is not None:
        body["until"] = None if day == "none" else read_day(day, today)
    if a_day is not None:
        if a_day != "none" and not (a_day.isdecimal() and int(a_day)):
            raise UsageError(f"--a-day should be a number from 1, or none, got {a_day}")
        body["a_day"] = None if a_day == "none" else int(a_day)
    state.add("goal", "", body)


def read_day(day: str, today: date) -> str:
    """Raises: UsageError."""
    try:
        ahead = today < date.fromisoformat(day) < today + FARTHEST
    except ValueError:
        ahead = False
    if not ahead:
        such = today + timedelta(days=21)
        raise UsageError(f"--until should be a day after today, in less than ten years, such as {such}, got {day}")
    return day


def show_plan(desk: Desk, console: Console) -> None:
    limit = "as many a day as are due" if desk.a_day is None else f"at most {desk.a_day} a day"
    if desk.goal is None:
        console.print(Text(f"there is no day to practise for; reviews come when FSRS says,\n{limit}"))
        return
    planned = plan(desk.goal, desk.progress, desk.at, desk.a_day)
    table = screen.table("day.", "minutes", "review.")
    table.columns[-1].no_wrap = False
    for day, names in planned.items():
        minutes = sum(desk.katas[name].about.minutes for name in names)
        table.add_row(f"{day:%a %Y-%m-%d}", str(minutes), Text(", ".join(names)))
    if planned:
        console.print(table)
    new = [name for name in desk.order if not desk.progress[name].solved]
    days = (desk.goal.until - desk.at.astimezone().date()).days
    console.print(Text(f"\ndays with reviews, if each goes well: {len(planned)}; `nox -s review` starts what is due"))
    most = max(map(len, planned.values()), default=0)
    console.print(Text(f"{limit} (in this plan at most {most}); another limit:\n  nox -s review -- --a-day N"))
    if missed := without_last_look(desk.progress, planned):
        console.print(
            Text(f"the last days have no room for a last look at these: {', '.join(missed)}; allow more reviews a day")
        )
    if new:
        each = f"katas that you have not solved: {len(new)}, so {len(new) / days:.1f} a day"
        console.print(Text(f"{each}; next is {new[0]}"))
    console.print(Text("how ready you will be:  nox -s report"))


def nothing(desk: Desk) -> str:
    if desk.waiting:
        more = f"{len(desk.waiting)} more {'is' if len(desk.waiting) == 1 else 'are'} due"
        return f"{desk.reviewed} reviewed today, as many as you set; {more}\n  nox -s review -- --a-day N"
    lapsed = [name for name in desk.order if desk.lapsed(name)]
    if lapsed:
        return f"nothing is due today; {lapsed[0]} was right before, and fails now\n  nox -s watch -- {lapsed[0]}"
    coming = sorted((one.due, one.kata) for one in desk.progress.values() if one.due is not None)
    if coming:
        return f"nothing is due today; next is {coming[0][1]}, {when(coming[0][0], desk.at)}"
    todo = f"\n  nox -s watch -- {desk.next}" if desk.next else ""
    return f"nothing is due: solve a kata first, and it will come back when you are about to forget it{todo}"


def show(desk: Desk, console: Console) -> None:
    made = screen.table("kata.", "due.", "last time.")
    for one in desk.due:
        assert one.due is not None
        made.add_row(one.kata, when(one.due, desk.at), RATINGS[one.ratings[-1][1]])
    console.print(made)


def start(state: State, desk: Desk, console: Console, todo: bool) -> None:
    """The one that is due the longest, in a file of its own, unless it was begun already."""
    show(desk, console)
    name = desk.due[0].kata
    file = attempts.shown(desk.katas[name], VIA)
    if open_next(state, desk, name, todo):
        what = "the stub" if todo else "the bare signatures"
        console.print(Text(f"\n{name} first: {file} has {what}, and your answer stays as it is"))
    else:
        console.print(Text(f"\nyou are at {name}: {file} is as you left it"))
    console.print(Text(f"write it from memory while it is judged on every save:\n  nox -s watch -- {name} --review"))


def open_next(state: State, desk: Desk, name: str, todo: bool = False) -> bool:
    """Begins a review, unless it was begun already; whether it did. Raises: UsageError."""
    one, kata = desk.progress[name], desk.katas[name]
    begun = one.open and one.place == VIA and attempts.file_for(kata, VIA).exists()
    if not begun:
        attempts.begin(state, kata, VIA, todo)
    return not begun

"""`watch`: grades a kata whenever its file is saved, and says what has changed since."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import queue
import threading
from collections import Counter
from pathlib import Path

import torch
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import attempts, hint, keys, status
from graders.desk.saves import SaveWatcher
from graders.desk.state import State
from graders.faults import GraderError, UsageError
from graders.judge import card
from graders.judge.results import Result
from graders.judge.warm import Interrupted, WarmJudge
from graders.kata.spec import CATEGORIES
from graders.sandbox.launcher import new_launcher

SLOW_SECONDS = 2.0  # in one call, after which it is shown
KEYS = {"h": "hint", "n": "next", "r": "rerun", "l": "list", "d": "diff", "q": "quit"}


def main(options: argparse.Namespace, root: Path) -> int:
    launcher = new_launcher()  # before any grader is imported: see launcher.py
    judge = WarmJudge(launcher)
    try:
        chosen = katas.all_katas(root)
        state = State(root)
        named = katas.find([options.kata], root) if options.kata else chosen
        first = status.overview(state, named).next or named[0].id
        watch = Watch(chosen, katas.find_one(first, root), state, judge, card.console())
        torch.set_num_threads(1)
        files = [kata.answer_file for kata in chosen]
        with SaveWatcher(files, watch.tell, options.poll), keys.listening(watch.tell):
            watch.run()
        state.close()
    finally:
        judge.close()
        launcher.close()
    return 0


class Watch:
    """One kata at a time is watched: the one that was last chosen, or saved."""

    def __init__(self, chosen: list[Kata], kata: Kata, state: State, judge: WarmJudge, console: Console) -> None:
        self.katas = {kata.answer_file: kata for kata in chosen}
        self.kata = kata
        self.state = state
        self.judge = judge
        self.console = console
        self.events: queue.Queue[Path | str] = queue.Queue()  # files that were saved, keys that were pressed
        self.telling = threading.Lock()  # else what is taken from the queue meanwhile would be interrupted itself
        self.last: dict[str, Result] = {}  # by kata

    def tell(self, event: Path | str) -> None:
        """Of a file that was saved, or a key. Called in other threads."""
        with self.telling:
            self.events.put(event)
            if self.outdated:
                self.judge.interrupt()

    @property
    def outdated(self) -> bool:
        """Whether something waits that makes the verdict under way worth nothing."""
        with self.events.mutex:
            return any(isinstance(event, Path) or event in "nrq" for event in self.events.queue)

    def run(self) -> None:
        """Until somebody quits."""
        self.grade()
        while (event := self.events.get()) != "q":
            try:
                self.follow(event)
            except UsageError as error:
                self.say(f"error: {error}")

    def follow(self, event: Path | str) -> None:
        if isinstance(event, Path):
            self.kata = self.katas[event]
            self.grade()
        elif event == "r":
            self.grade()
        elif event == "n":
            self.go_on()
        elif event == "h":
            hint.show(self.kata, self.state, self.console)
            self.footer(self.desk())
        elif event == "l":
            desk = self.desk()
            status.show(desk, self.console)
            self.footer(desk)
        elif event == "d":
            desk = self.desk()
            self.diff(desk)
            self.footer(desk)

    def desk(self) -> status.Desk:
        return status.overview(self.state, list(self.katas.values()))

    def go_on(self) -> None:
        """To the next kata that is not solved, in the order in which they should be taken."""
        desk = self.desk()
        waiting = [name for name in desk.order if desk.progress[name].state != "solved" and name != self.kata.id]
        after = [name for name in waiting if desk.order.index(name) > desk.order.index(self.kata.id)]
        name = next(iter(after or waiting), None)
        if name is None:
            self.say("every other kata is solved")
            return
        self.kata = desk.katas[name]
        self.grade()

    def grade(self) -> None:
        """Shows the card of the kata's file as it is now."""
        if self.console.is_terminal:
            self.console.clear()
        result = self.verdict()
        if result is None:
            return  # something newer is waiting
        card.Reporter(self.judge.seed, self.console, costs=True)(result)
        before = self.last.get(self.kata.id)
        if result.todo:
            self.say("read its README.md, then write it; every save is judged:")
            self.say(f"  {attempts.shown(self.kata)}")
        elif before and not before.todo:
            self.say(f"since the last run: {changes(before, result)}")
        self.last[self.kata.id] = result
        attempts.record(self.state, result, self.judge.seed, "watch")
        desk = self.desk()
        if result.state == "solved":
            self.say(solved(desk, self.kata.id))
        self.footer(desk)

    def verdict(self) -> Result | None:
        """None where it was interrupted by a save or a key."""

        with self.telling:
            self.judge.go_on()
            if self.outdated:
                return None
        judging = Judging(self.kata.id, self.judge)
        shown = self.console.status(judging) if self.console.is_terminal else contextlib.nullcontext()
        try:
            with shown:
                return self.judge.grade(self.kata, self.kata.answer_file, judging.look)
        except Interrupted:
            return None
        except GraderError as error:
            self.say(f"error: the grader of {self.kata.id} cannot grade: {error}")
            return None

    def diff(self, desk: status.Desk) -> None:
        """The learner's file beside the reference, once that spoils nothing."""
        if not desk.progress[self.kata.id].solved:
            self.say("the reference is shown once you have solved the kata; press h for a hint")
            return
        own, reference = self.kata.answer_file, self.kata.reference_file
        try:
            one, other = (file.read_text(encoding="utf-8-sig").splitlines() for file in (own, reference))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the files cannot be compared ({error}): mend that, then press d again") from None
        lines = list(difflib.unified_diff(one, other, "yours", "the reference", lineterm=""))
        if lines:
            self.console.print(Syntax("\n".join(lines), "diff", theme="ansi_dark", word_wrap=True))
        else:
            self.say("no difference")

    def footer(self, desk: status.Desk) -> None:
        """How far all of it has come, and the keys."""
        solved = sum(one.solved > 0 for one in desk.progress.values())
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(len(desk.katas), solved, width=20), f"{solved} of {len(desk.katas)} solved")
        if self.console.is_terminal:
            self.console.print(bar)
        else:
            self.say(f"{solved} of {len(desk.katas)} solved")
        self.say("  ".join(f"{key} {word}" for key, word in KEYS.items()))
        while self.state.notes:
            self.say(f"note: {self.state.notes.pop(0)}")

    def say(self, text: str) -> None:
        self.console.print(Text(text))


class Judging:
    """What is going on, each time that it is shown: how many checks are done, and which call takes long."""

    def __init__(self, kata: str, judge: WarmJudge) -> None:
        self.judge = judge
        self.done = f"judging {kata}"

    def look(self, result: Result) -> None:
        self.done = f"judging {result.kata} {len(result.outcomes)}/{result.planned}"

    def __rich__(self) -> Text:
        call, seconds = self.judge.call
        words = f"{self.done}, {seconds:.0f} s in {call}" if seconds >= SLOW_SECONDS else self.done
        return Text(words, no_wrap=True, overflow="ellipsis")


def changes(before: Result, now: Result) -> str:
    """`shapes, gradients now pass; numerics: 3 fail, 5 before`"""
    if before.error or now.error:
        if not now.error:
            return "it can be imported now"
        return "still it cannot be imported" if before.error else "it cannot be imported any more"
    old, new = (Counter(outcome.category for outcome in result.failures) for result in (before, now))
    asked = {outcome.category for outcome in now.outcomes if outcome.state != "skipped"}
    groups = {
        "now pass": [one for one in CATEGORIES if old[one] and not new[one] and one in asked],
        "fail now": [one for one in CATEGORIES if new[one] and not old[one]],
    }
    words = [f"{', '.join(names)} {what}" for what, names in groups.items() if names]
    both = [one for one in CATEGORIES if new[one] and old[one] and new[one] != old[one]]
    words += [f"{one}: {new[one]} fail, {old[one]} before" for one in both]
    return "; ".join(words) or "no check changed"


def solved(desk: status.Desk, name: str) -> str:
    due = desk.progress[name].due
    again = f"; it comes back for review {status.when(due, desk.at)}" if due else ""
    return (
        f"solved{again}. Its follow_up.md has what an interviewer asks next; n goes to the next kata, "
        "d shows how the reference does it"
    )

"""`watch`: grades a kata whenever its file is saved, and says what has changed since."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import time
from pathlib import Path

import torch
from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.desk import attempts, diff, hint, keys, read, review, run, status, trying
from graders.desk.others import about
from graders.desk.progress import LEVELS_OF_HINTS, progress_of
from graders.desk.saves import SaveWatcher
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile, Verdict, Verdicts
from graders.faults import GraderError, UsageError
from graders.judge import screen
from graders.judge.card import card_of, costs_in_words
from graders.judge.reporter import Reporter
from graders.judge.results import Result
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher

RUN_SECONDS = 60  # of a file that `r` runs
BAR = 20  # columns of the progress bar
REVIEW = review.VIA
KEYS = {
    "s": "statement", "h": "hint", "n": "next", "r": "run", "t": "try", "g": "grade", "l": "list", "d": "diff",
    "q": "quit",
}  # fmt: skip
ENDING = "ngq"  # keys that end a verdict under way


def main(options: argparse.Namespace, root: Path) -> int:
    launcher = new_launcher()  # before any grader is imported: see launcher.py
    judge = WarmJudge(launcher)
    try:
        chosen = katas.on_path_to(options.path, root)
        state = State(root)
        named = katas.find([options.kata], root) if options.kata else chosen
        attempts.bring_all_home(state, chosen)
        if options.review:
            named = [kata for kata in named if attempts.file_for(kata, REVIEW).exists()]
            if not named:
                raise UsageError("no review has begun; begin one: nox -s review")
        desk = status.overview(state, named)
        due = [one.kata for one in desk.due] if options.review else []
        first = next(iter(due), desk.next or named[0].id)
        via = REVIEW if options.review else "watch"
        watch = Watch(chosen, katas.find_one(first, root), state, judge, screen.console(), via)
        torch.set_num_threads(1)
        files = list(watch.katas)
        with SaveWatcher(files, watch.saved, options.poll), keys.listening(watch.verdicts.tell):
            watch.run()
        state.close()
    finally:
        judge.close()
        launcher.close()
    return 0


class Watch:
    """One kata at a time is watched: the one that was last chosen, or saved."""

    def __init__(
        self, chosen: list[Kata], kata: Kata, state: State, judge: WarmJudge, console: Console, via: str = "watch"
    ) -> None:
        self.via = via  # "review": of the files that it began
        self.katas = {attempts.file_for(kata, via): kata for kata in chosen}
        self.kata = kata
        self.state = state
        self.verdicts = Verdicts(judge, ENDING, self.show)
        self.console = console
        self.pressed: AnswerFile | str = ""  # the last wish
        self.doubtful = False  # h was pressed, and a hint is shown when it is pressed again
        self.shown: Result | None = None  # the last card's
        self.calls: dict[Kata, str] = {}  # that was tried last

    def saved(self, file: Path) -> None:
        """Called in another thread."""
        self.verdicts.tell(AnswerFile(self.katas[file], self.via))

    @property
    def file(self) -> Path:
        return attempts.file_for(self.kata, self.via)

    def run(self) -> None:
        """Until somebody quits."""
        self.grade()
        while (event := self.verdicts.wishes.get()) != "q":
            try:
                self.follow(event)
            except (UsageError, GraderError) as error:
                self.say(f"error: {error}")

    def follow(self, event: AnswerFile | str) -> None:
        self.doubtful = self.doubtful and event == "h"
        again, self.pressed = event == self.pressed, event
        if isinstance(event, AnswerFile):
            self.kata = event.kata
            self.grade()
        elif event == "g":
            self.grade()
        elif event == "r":
            self.run_file()
            self.footer(self.desk())
        elif event == "t":
            self.try_call()
            self.footer(self.desk())
        elif event == "n":
            self.go_on()
        elif event == "s":
            read.show(self.kata, self.state, self.console, everything=again)
            if not again:
                self.say("press s again for the full contract and what is graded")
            self.footer(self.desk())
        elif event == "h":
            self.hint()
            self.footer(self.desk())
        elif event == "l":
            desk = self.desk()
            status.show(desk, self.console, list(desk.katas.values()))
            self.footer(desk)
        elif event == "o" and (own := self.verdicts.right(AnswerFile(self.kata, self.via))):
            self.others(own)
            self.footer(self.desk())
        elif event == "d":
            desk = self.desk()
            self.diff(desk)
            self.footer(desk)

    def run_file(self) -> None:
        """Outside of the judge's cage, as `nox -s run` does, but for keys, which go on to be ours."""
        end = time.monotonic() + RUN_SECONDS
        run.start(
            self.kata, self.file, lambda: self.verdicts.outdated or time.monotonic() > end, stdin=subprocess.DEVNULL
        )
        if time.monotonic() > end:
            self.say(f"your file was ended after {RUN_SECONDS} s; `nox -s run` has no limit")
        self.say(f"for breakpoints, or a case's inputs:\n  nox -s run -- {self.kata.id} [--case CASE]")

    def try_call(self) -> None:
        """One that is typed, or else the one that was tried last, that failed, or that the statement shows."""
        file = AnswerFile(self.kata, self.via)
        verdict = self.verdicts.last.get(file)
        offered = [self.calls.get(self.kata, ""), verdict.failing_call(self.kata) if verdict else ""]
        before = next(filter(trying.has_code, offered), "") or trying.example(self.kata)
        self.console.print(Text(before), no_wrap=True, overflow="ellipsis")
        typed, saved = keys.typed_line(self.verdicts.wishes, "Enter tries this, or type a call: ")
        self.calls[self.kata] = text = typed or before
        try:
            made = self.verdicts.tried(file, text)
            rows = [("yours", made.yours), ("expected", made.expected), ("printed", made.printed)]
            self.reporter.show_rows([row for row in rows if row[1]])
            self.say(made.verdict)
        finally:
            for one in saved:  # meanwhile
                self.verdicts.tell(one)

    def hint(self) -> None:
        """A key that was hit by chance should cost nothing, so a new hint is shown when it is asked for twice."""
        known = progress_of(self.state.events(self.kata.id), [self.kata.id])[self.kata.id].known
        more = self.doubtful or known == LEVELS_OF_HINTS
        if known or more:
            hint.show(self.kata, self.state, self.console, more)
        if not more:
            self.say(f"press h again for hint {known + 1} of {LEVELS_OF_HINTS}; {hint.COST}")
        self.doubtful = not more

    def desk(self) -> status.Desk:
        return status.overview(self.state, list(self.katas.values()))

    def go_on(self) -> None:
        """To the next kata on the path whose core is not right, or where none is left, that is not solved.

        In a review to the next one that is due.
        """
        desk = self.desk()
        name = self.next_review(desk) if self.via == REVIEW else desk.next_on_path(self.kata.id)
        if name is None:
            due = ", ".join(one.kata for one in desk.due if one.kata != self.kata.id)
            if self.via == REVIEW:
                self.say("nothing else is due today")
            else:
                more = f"; due today: {due}\n  nox -s review" if due else ""
                self.say(f"every other kata on your path is solved{more}")
            self.footer(desk)
            return
        self.kata = desk.katas[name]
        self.grade()

    def next_review(self, desk: status.Desk) -> str | None:
        """The one that is due after this one, begun if it was not."""
        due = [one.kata for one in desk.due]
        after = due.index(self.kata.id) + 1 if self.kata.id in due else 0
        name = next((one for one in due[after:] + due[:after] if one != self.kata.id), None)
        if name is not None:
            review.open_next(self.state, desk, name)
        return name

    def grade(self) -> None:
        """Shows the card of the kata's file as it is now."""
        if self.console.is_terminal:
            self.console.clear()
        verdict = self.verdict()
        if verdict is None:
            return  # something newer is waiting
        if verdict.result:
            self.tell(verdict.result, verdict.since, verdict.begun)
        if verdict.trouble:
            self.say(f"error: {verdict.trouble}")

    @property
    def reporter(self) -> Reporter:
        submissions = [self.file] if self.file != self.kata.answer_file else []
        return Keyed(self.verdicts.judge.seed, self.console, costs=True, submissions=submissions)

    def show(self, result: Result) -> None:
        """The card as soon as all checks have reported; the mistake that it looks like is said when it is known."""
        self.reporter.show(card_of(result))
        self.shown = result

    def tell(self, result: Result, since: str, begun: str) -> None:
        """What is not shown yet; a fault that was met while the mistake was looked for makes another card."""
        if self.shown is not result or result.state == "error":
            self.show(result)
        elif looks_like := card_of(result).looks_like:
            self.reporter.show_rows([("looks like", looks_like)])
        if smallest := self.verdicts.shrink(AnswerFile(self.kata, self.via)):
            self.reporter.show_rows([("smallest", smallest.text)])
        if result.todo:
            how = "write it from memory" if self.via == REVIEW else "read its README.md, then write it"
            self.say(f"{how}; every save is judged:")
            self.say(f"  {attempts.shown(self.kata, self.via)}")
            if begun:
                self.say(begun)
        elif since:
            self.say(f"since the last run: {since}")
        desk = self.desk()
        if result.reached == "core":
            self.say(
                "the card shows what is left. The kata's follow_up.md has what an interviewer asks next; n goes on"
            )
        if result.state == "solved":
            self.say(solved(desk, self.kata.id, review=self.via == REVIEW))
            if self.via == REVIEW:
                sources = [event.body["source"] for event in attempts.attempts_of(self.state, self.kata)]
                number = len(sources) - sources[::-1].index(result.source_text)
                self.say(f"{attempts.shown(self.kata)} stays as it was; to put this answer in its place:")
                self.say(f"  nox -s history -- {self.kata.id} {number} --restore")
        self.footer(desk)

    def verdict(self) -> Verdict | None:
        """None where it was interrupted by a save or a key."""
        with self.waiting_for(Judging(self)):
            return self.verdicts.of(AnswerFile(self.kata, self.via), self.state)

    def waiting_for(self, what: RenderableType) -> contextlib.AbstractContextManager[object]:
        return self.console.status(what) if self.console.is_terminal else contextlib.nullcontext()

    def others(self, own: Result) -> None:
        """Right answers of ours, and what each costs; any key ends the counting."""
        if own.costs:
            self.say("counting what each costs; any key ends that\n")
            rows = [("yours", costs_in_words(own))]
            for number, file in enumerate(self.kata.alternatives, 1):
                with self.waiting_for(f"counting {file.stem}, {number} of {len(self.kata.alternatives)}"):
                    rows.append((file.stem, self.verdicts.costs_of(self.kata, file)))
            self.reporter.show_rows([(name, "\n".join(lines)) for name, lines in rows if lines])
        for file in (self.kata.reference_file, *self.kata.alternatives):
            self.console.print(Text(f"{about(file)}\n  {file.relative_to(self.kata.root)}"), soft_wrap=True)

    def diff(self, desk: status.Desk) -> None:
        """The learner's file beside the reference, once that spoils nothing."""
        if not desk.progress[self.kata.id].solved:
            self.say("the reference is shown once you have solved the kata; press h for a hint")
            return
        own, reference = self.file, self.kata.reference_file
        try:
            one, other = (file.read_text(encoding="utf-8-sig").splitlines() for file in (own, reference))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the files cannot be compared ({error}): mend that, then press d again") from None
        diff.show(one, other, ("yours", "the reference"), self.console)

    def footer(self, desk: status.Desk) -> None:
        """How far all of it has come, and the keys."""
        solved = sum(one.solved > 0 for one in desk.progress.values())
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(len(desk.katas), solved, width=BAR), desk.counted)
        if self.console.is_terminal and self.console.width > BAR + 1 + len(desk.counted):
            self.console.print(bar)
        else:
            self.say(desk.counted)
        self.say("  ".join(f"{key} {word}" for key, word in KEYS.items()))
        while self.state.notes:
            self.say(f"note: {self.state.notes.pop(0)}")

    def say(self, text: str) -> None:
        self.console.print(Text(text))


class Keyed(Reporter):
    """The card, for somebody who has keys to press."""

    hint = "press h"


class Judging:
    """What is going on, each time that it is shown."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __rich__(self) -> Text:
        kata, words = self.watch.kata.id, self.watch.verdicts.so_far
        return Text(words.replace("judging", f"judging {kata}", 1), no_wrap=True, overflow="ellipsis")


def solved(desk: status.Desk, name: str, review: bool) -> str:
    due = desk.progress[name].due
    again = f"; it comes back for review {status.when(due, desk.at)}" if due else ""
    after = "n goes to the next kata"
    if review:
        after = f"n goes to the next of {len(desk.due)} that are due" if desk.due else "nothing else is due today"
    asks = "Its follow_up.md has what an interviewer asks next"
    ours = ", d shows how the reference does it, o other right answers and their costs"
    return f"solved{again}. {asks}; {after}{ours * desk.katas[name].reference_file.exists()}"

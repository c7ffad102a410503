"""`interview`: a timed mock interview in the terminal, which can be cut off anywhere and gone on with."""

from __future__ import annotations

import argparse
import os
import random
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from graders import files
from graders.catalogue import katas, texts
from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.progress import progress_of
from graders.desk.state import State
from graders.faults import INTERRUPTED, GraderError, UsageError
from graders.interview import card, draw, loop, record
from graders.interview import clock as clocks
from graders.interview.clock import Clock
from graders.interview.commands import Suspended
from graders.interview.interview import Interview
from graders.interview.record import InterviewReport
from graders.interview.terminal import Terminal
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher

LEAST_MINUTES = 5
RESUME = "nox -s interview -- --resume"
SUSPENDED = f"suspended: nothing is lost, and the clock runs on. Go on with\n  {RESUME}"


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 0 finished or suspended, 2 usage, 130 interrupted."""
    state = State(root)
    try:
        past = record.reports(state.events())
        terminal = Terminal()
        if options.report is not None:
            show_report(terminal, root, state, past, options.report)
            return 0
        refuse(options, past)
        attempts.bring_all_home(state, katas.all_katas(root))
        judge = WarmJudge(new_launcher())  # before any grader is imported: see launcher.py
        try:
            torch.set_num_threads(1)
            return TerminalSession(options, root, state, terminal, judge).run(still_open(past))
        finally:
            judge.launcher.close()  # and with it whatever runs
    finally:
        for note in state.notes:
            print(f"note: {note}", file=sys.stderr)
        state.close()


def refuse(options: argparse.Namespace, past: Sequence[InterviewReport]) -> None:
    """What can be seen at once. Raises: UsageError."""
    going_on = still_open(past)
    if options.resume:
        if not going_on:
            raise UsageError("there is no interview to resume; begin one: nox -s interview")
        for name in ("topic", "level", "set", "seed"):
            if getattr(options, name) is not None:
                raise UsageError(f"--resume goes on with the katas that were drawn; drop --{name}")
        return
    if going_on and not options.new:
        raise UsageError(
            f"the interview of {going_on.when.astimezone():%Y-%m-%d %H:%M} is still open: go on with {RESUME}, "
            "or add --new to give it up for another one"
        )
    if options.minutes < LEAST_MINUTES:
        raise UsageError(f"--minutes should be at least {LEAST_MINUTES}, got {options.minutes}")


def still_open(past: Sequence[InterviewReport]) -> InterviewReport | None:
    return past[-1] if past and not past[-1].ended else None


def show_report(terminal: Terminal, root: Path, state: State, past: Sequence[InterviewReport], number: int) -> None:
    """The last one for number 0. Raises: UsageError."""
    if not past:
        raise UsageError("there was no interview yet; begin one: nox -s interview")
    if not 0 <= number <= len(past):
        raise UsageError(f"there is no interview {number}; name one from 1 to {len(past)}, or none for the last")
    number = number or len(past)
    report = past[number - 1]
    card.show(terminal, report, number, state.now())
    if report.ended:
        from graders.interview.debrief import debrief  # it imports scikit-learn, which takes a second

        there = {kata.id: kata for kata in katas.all_katas(root)}
        try:
            text = debrief(report, number, there)
        except (UsageError, GraderError) as error:  # the solutions were removed since, or a grader is broken
            terminal.say(f"there is no debrief: {error}")
            return
        file = root / ".kata" / "interview" / f"report-{number}.md"
        files.make_room(file, "mend that, then try again")
        files.replace_file(file, text)
        terminal.say(f"what you said beside what could be said, and what to read again:  {file.relative_to(root)}")


def turn_away_from_stdout() -> None:
    """Nobody reads it any more: Python should not complain of that when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class TerminalSession:
    """One time at the terminal: an interview that begins, or goes on."""

    def __init__(
        self, options: argparse.Namespace, root: Path, state: State, terminal: Terminal, judge: WarmJudge
    ) -> None:
        self.options = options
        self.root = root
        self.state = state
        self.terminal = terminal
        self.judge = judge
        self.interview: Interview | None = None

    def run(self, going_on: InterviewReport | None) -> int:
        """The exit status. Raises: UsageError."""
        try:
            interview = self.resume(going_on) if going_on and self.options.resume else self.begin(going_on)
            loop.run(interview)
            show_report(self.terminal, self.root, self.state, record.reports(self.state.events()), 0)
        except (KeyboardInterrupt, EOFError, Suspended, BrokenPipeError) as cut:
            if self.interview is None:
                raise
            if isinstance(cut, BrokenPipeError):
                turn_away_from_stdout()
            if not self.interview.report.ended:
                self.say_how_to_resume(after_a_prompt=not isinstance(cut, Suspended))
            return INTERRUPTED if isinstance(cut, KeyboardInterrupt) else 0
        return 0

    def say_how_to_resume(self, after_a_prompt: bool) -> None:
        try:
            if after_a_prompt:
                self.terminal.say()
            self.terminal.say(SUSPENDED)
        except BrokenPipeError:
            turn_away_from_stdout()

    def begin(self, given_up: InterviewReport | None) -> Interview:
        """Raises: UsageError."""
        chosen = self.eligible()
        seed, minutes = self.options.seed, self.options.minutes
        if seed is None:
            found = progress_of(self.state.events(), [kata.id for kata in chosen])
            seed = draw.suiting_seed(chosen, minutes, found, self.state.now(), random.SystemRandom())
        drawn = draw.draw(chosen, minutes, seed)
        for kata in drawn:
            texts.check(kata)
        if given_up:
            body = {"interview": given_up.id, "what": "end", "elapsed": given_up.elapsed, "how": "abandoned"}
            self.state.add("interview", "", body)
        event = self.state.add("interview", "", begin_body(drawn, minutes, seed))
        report = record.begun(event)
        self.interview = Interview(self.state, drawn, report, Clock(report.anchor), self.terminal, self.judge)
        self.welcome(report)
        return self.interview

    def eligible(self) -> list[Kata]:
        """What can be asked about, of the topic, the set and the level that were asked for. Raises: UsageError."""
        topic, level = self.options.topic, self.options.level
        found = [kata for kata in katas.all_katas(self.root) if texts.interview_file(kata).exists()]
        found = [kata for kata in found if topic in (None, kata.topic)]
        if self.options.set:
            chosen = katas.sets(self.root)[self.options.set]
            found = [kata for kata in found if kata.id in chosen]
        levels = sorted({kata.about.level for kata in found})
        if not found:
            of_set = f" of the set {self.options.set}" if self.options.set else ""
            raise UsageError(f"no kata{of_set} has an interview.md here: restore them with git")
        if level is not None and level not in levels:
            where = "" if topic is None else f" in topic {topic}"
            raise UsageError(f"there is no kata of level {level}{where}; there are: {', '.join(map(str, levels))}")
        return [kata for kata in found if level in (None, kata.about.level)]

    def welcome(self, report: InterviewReport) -> None:
        count = len(report.rounds)
        drawn = "one kata, with" if count == 1 else f"{count} katas, each with"
        self.terminal.say(
            f"A mock interview of {report.minutes} minutes: {drawn} questions at its end. Your own editor, no books. "
            "`help` lists what you can type, `quit` goes on another time; the clock runs on."
        )
        self.terminal.say(f"seed {report.seed} (--seed {report.seed} draws the same again)")

    def resume(self, report: InterviewReport) -> Interview:
        """Raises: UsageError."""
        drawn = katas.find([one.kata for one in report.rounds], self.root)
        clock = Clock(report.anchor, report.anchored, report.elapsed)
        self.interview = Interview(self.state, drawn, report, clock, self.terminal, self.judge)
        now = clocks.read()
        self.interview.add("resume", clock=now.seconds, boot=now.boot)
        self.terminal.say(
            f"Your interview of {report.when.astimezone():%Y-%m-%d %H:%M} goes on: {self.interview.left()}."
        )
        return self.interview


def begin_body(drawn: Sequence[Kata], minutes: int, seed: int) -> dict[str, Any]:
    """What an interview's first event says."""
    now = clocks.read()
    chosen = [
        {
            "kata": kata.id,
            "topic": kata.topic,
            "level": kata.about.level,
            "minutes": kata.about.minutes,
        }
        for kata in drawn
    ]
    body = {"interview": uuid.uuid4().hex, "what": "begin", "elapsed": 0.0, "minutes": minutes, "seed": seed}
    return body | {"katas": chosen, "clock": now.seconds, "boot": now.boot}

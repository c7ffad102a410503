"""One time at the terminal: a sitting that begins, or goes on, and can be cut off anywhere."""

from __future__ import annotations

import abc
import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch

from graders.catalogue.katas import Kata
from graders.desk.sat import Sat
from graders.desk.state import State
from graders.faults import INTERRUPTED, UsageError
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher
from graders.sitting.commands import Command, Suspended
from graders.sitting.sitting import Sitting
from graders.sitting.terminal import Streams, Terminal

R = TypeVar("R", bound=Sat)


@contextlib.contextmanager
def opened(root: Path) -> Iterator[State]:
    state = State(root)
    try:
        yield state
    finally:
        for note in state.notes:
            print(f"note: {note}", file=sys.stderr)
        state.close()


@contextlib.contextmanager
def judging() -> Iterator[WarmJudge]:
    """A judge that stays. To be made before any grader is imported: see launcher.py."""
    judge = WarmJudge(new_launcher())
    try:
        torch.set_num_threads(1)
        yield judge
    finally:
        judge.launcher.close()  # and with it whatever runs


def still_open(past: Sequence[R]) -> R | None:
    return past[-1] if past and not past[-1].ended else None


def turn_away_from_stdout() -> None:
    """Nobody reads it any more: Python should not complain of that when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Session(abc.ABC, Generic[R]):
    """What is sat is under `sitting` as soon as it has begun."""

    command: ClassVar[str]  # and the kind of its events
    noun: ClassVar[str]  # as people call what is sat
    choices: ClassVar[Sequence[str]] = ("topic", "level", "set", "seed")  # options that decide what is drawn

    def __init__(
        self, options: argparse.Namespace, root: Path, state: State, terminal: Terminal, judge: WarmJudge
    ) -> None:
        self.options = options
        self.root = root
        self.state = state
        self.terminal = terminal
        self.judge = judge
        self.sitting: Sitting[R] | None = None

    @classmethod
    @abc.abstractmethod
    def past(cls, state: State) -> list[R]:
        """All that were begun, the oldest first."""

    @classmethod
    @abc.abstractmethod
    def report(cls, terminal: Terminal, root: Path, state: State, number: int) -> None:
        """Shows the one of this number, from 1; the last one for 0. Raises: UsageError."""

    @classmethod
    def check(cls, options: argparse.Namespace, state: State) -> R | None:
        """The one that is open. Raises: UsageError where the options do not go together with it, or are wrong."""
        going_on = still_open(cls.past(state))
        if options.resume and not going_on:
            raise UsageError(f"there is no {cls.noun} to resume; begin one: nox -s {cls.command}")
        for name in cls.choices if options.resume else ():
            if getattr(options, name) is not None:
                raise UsageError(f"--resume goes on with what was drawn; drop --{name}")
        if going_on and not options.resume and not options.new:
            raise UsageError(
                f"the {cls.noun} of {going_on.began} is still open: go on with nox -s {cls.command} -- --resume, or "
                "add --new to give it up for another one"
            )
        return going_on

    @classmethod
    def numbered(cls, past: Sequence[R], number: int) -> tuple[R, int]:
        """The one of this number, from 1, and the number; the last one for 0. Raises: UsageError."""
        if not past:
            raise UsageError(f"there was no {cls.noun} yet; begin one: nox -s {cls.command}")
        if not 0 <= number <= len(past):
            raise UsageError(f"there is no {cls.noun} {number}; give N from 1 to {len(past)}, or no N for the last")
        number = number or len(past)
        return past[number - 1], number

    def give_up(self, old: R) -> None:
        """Ends one that was cut off, where it was cut off."""
        body = {self.command: old.id, "what": "end", "elapsed": old.elapsed, "how": "abandoned"}
        self.state.add(self.command, "", body)

    @property
    @abc.abstractmethod
    def commands(self) -> list[Command[Any]]:
        """What can be typed where it stands."""

    @property
    @abc.abstractmethod
    def written(self) -> Sequence[Sitting[R]]:
        """Those whose files are to be written where it stands."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The phases of what is at hand, in order; none where there are none."""
        return ()

    @property
    def task(self) -> tuple[str, str]:
        """What is at hand, which a page keeps in view: a title, and Markdown; "" for what is only said once."""
        return "", ""

    @property
    def beside(self) -> list[tuple[Kata, str]]:
        """Further files that a page shows where it stands, as a kata and the kind of its sitting."""
        return []

    @abc.abstractmethod
    def hold(self, going_on: R | None) -> None:
        """Begins, or goes on, until it is over, and reports. Raises: UsageError, and what cuts it off."""

    def run(self, going_on: R | None) -> int:
        """The exit status. Raises: UsageError."""
        try:
            self.hold(going_on)
        except (KeyboardInterrupt, EOFError, Suspended, BrokenPipeError) as cut:
            if self.sitting is None:
                raise
            if isinstance(cut, BrokenPipeError):
                turn_away_from_stdout()
            if not self.sitting.over:
                self.say_how_to_resume(after_a_prompt=not isinstance(cut, Suspended))
            return INTERRUPTED if isinstance(cut, KeyboardInterrupt) else 0
        return 0

    def say_how_to_resume(self, after_a_prompt: bool) -> None:
        try:
            if after_a_prompt:
                self.terminal.say()
            self.terminal.say(
                f"suspended: nothing is lost, and the clock runs on. Go on with\n  nox -s {self.command} -- --resume"
            )
        except BrokenPipeError:
            turn_away_from_stdout()

    @classmethod
    def main(cls, options: argparse.Namespace, root: Path) -> int:
        """The command. Exit status: 0 finished or suspended, 2 usage, 130 interrupted."""
        with opened(root) as state:
            terminal = Streams()
            if options.report is not None:
                cls.report(terminal, root, state, options.report)
                return 0
            going_on = cls.check(options, state)
            with judging() as judge:
                signal.signal(signal.SIGTERM, signal.default_int_handler)  # as by Ctrl-C, the terminal is as it was
                return cls(options, root, state, terminal, judge).run(going_on)

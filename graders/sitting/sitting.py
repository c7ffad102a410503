"""Something that is sat against a clock. All that happens is an event first, so a cut leaves it at its last event."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from graders.catalogue.katas import Kata
from graders.desk import attempts
from graders.desk.sat import Sat
from graders.desk.state import Event, State
from graders.faults import UsageError
from graders.judge.warm import WarmJudge
from graders.sitting.asking_back import Offer, introduction
from graders.sitting.clock import Clock, for_an_event, in_words
from graders.sitting.commands import YES_OR_NO
from graders.sitting.interrupts import whole
from graders.sitting.pace import Pace, usual
from graders.sitting.terminal import Terminal

R = TypeVar("R", bound=Sat)


class Sitting(abc.ABC, Generic[R]):
    """One sitting, from where it stands to its end or until it is cut off."""

    kind: ClassVar[str]  # of its events, whose bodies have its id under this name
    noun: ClassVar[str]  # as people call it

    def __init__(self, state: State, report: R, terminal: Terminal, judge: WarmJudge) -> None:
        self.state = state
        self.report = report
        self.clock = Clock(report)
        self.terminal = terminal
        self.judge = judge
        self.pace = Pace(usual(report.minutes), self.clock)
        self.offer: Offer | None = None  # what may be meant, while that is asked back
        self.count = len(self.events())

    @property
    @abc.abstractmethod
    def kata(self) -> Kata:
        """The one at hand."""

    @property
    def file(self) -> Path:
        """Where the answer is written; what the learner wrote before stays as it is."""
        return attempts.file_for(self.kata, self.kind)

    @property
    def shown(self) -> str:
        """The file, as people read it."""
        return attempts.shown(self.kata, self.kind)

    @property
    def at(self) -> str:
        """Where it stands, in a word."""
        return self.kind

    def events(self) -> list[Event]:
        return [event for event in self.state.events("") if event.body.get(self.kind) == self.report.id]

    @property
    def over(self) -> bool:
        """Whether it was ended, here or elsewhere. Raises: UsageError."""
        return any(event.body["what"] == "end" for event in self.events())

    def add(self, what: str, **body: Any) -> None:
        """Raises: UsageError where it cannot be remembered; then it has not happened."""
        self.refuse_another_terminal()
        document = {self.kind: self.report.id, "what": what, "elapsed": round(self.clock(), 1)} | body
        with whole():
            self.report.add(self.state.add(self.kind, "", document))
            self.count += 1

    def refuse_another_terminal(self) -> None:
        """Raises: UsageError where something happened that did not happen here."""
        if len(self.events()) != self.count:
            raise UsageError(
                f"this {self.noun} was ended in another terminal or page; `quit` leaves it here"
                if self.over
                else f"this {self.noun} went on in another terminal or page: go on there; or type `quit` there and "
                "here, then resume it"
            )

    def note(self, what: str, **body: Any) -> None:
        """Adds an event about the kata at hand."""
        self.add(what, kata=self.kata.id, **body)

    def resume(self) -> None:
        """Raises: UsageError."""
        self.add("resume", **for_an_event())

    def finish(self) -> None:
        """Raises: UsageError."""
        self.add("end", how="finished")

    def say(self, text: str = "") -> None:
        self.terminal.say(text)

    def left(self) -> str:
        """`31:07 left`, or `2:10 over`."""
        left = 60 * self.report.minutes - self.clock()
        return f"{in_words(math.ceil(left))} left" if left >= 0 else f"{in_words(-left)} over"

    def tell_time(self) -> None:
        passed, whole = in_words(self.clock()), in_words(60 * self.report.minutes)
        self.say(f"{passed} of {whole} have passed: {self.left()}")

    def ask(self, more: str = "") -> str:
        return self.terminal.ask(lambda: f"[{self.at}  {self.left()}] {more}> ", self.pace)

    def ask_back(self, offer: Offer, verb: str, texts: Iterable[str]) -> None:
        """Lists what may be meant; the next line may answer."""
        self.offer = offer
        self.say(introduction(offer, verb))
        self.terminal.numbered(texts)

    def confirm(self, question: str) -> bool:
        """An empty line is a no; any other is asked for again, since it may be a command."""
        self.say(question)
        while (said := self.terminal.ask(lambda: "yes/no > ", self.pace).strip().lower()) not in (*YES_OR_NO, ""):
            self.say("type yes or no; all else comes after that")
        return said.startswith("y")

"""Judges the learner's files one at a time, for `watch` and for the page, and remembers what came of each."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.desk import attempts, own_tests
from graders.desk.since import changes
from graders.desk.state import State
from graders.desk.trying import Tried, tried
from graders.faults import GraderError, UsageError
from graders.judge import as_python
from graders.judge.card import costs_in_words
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.smallest import Smallest, smallest
from graders.judge.warm import Interrupted, Interruptible, WarmJudge

SLOW_SECONDS = 2.0  # in one call, after which it is shown


@dataclass(frozen=True)
class AnswerFile:
    """A kata, and which of its files is written: the learner's, that of a review or a sitting, tests beside it."""

    kata: Kata
    via: str
    tests: bool = False

    @property
    def path(self) -> Path:
        answer = attempts.file_for(self.kata, self.via)
        return own_tests.beside(answer) if self.tests else answer


NO_GRADIENTS = "# its gradients are wrong, but a try cannot ask for them in this kata\n"


@dataclass(frozen=True)
class Verdict:
    """What became of judging a file.

    Args:
        result: None where there is none.
        since: what changed since the verdict before.
        begun: what the file was begun with, in words, where its kata goes on from another and nothing was written yet.
        trouble: why there is no result, or why it is not remembered.
        smallest: the smallest failing call, once it is found.
    """

    at: datetime
    result: Result | None = None
    since: str = ""
    begun: str = ""
    trouble: str = ""
    smallest: Smallest | None = None

    def failing_call(self, kata: Kata) -> str:
        """The smallest one, or what the card is about, as Python; "" where none failed."""
        if self.smallest:
            differentiates = as_python.differentiates(kata)
            untold = bool(self.smallest.request.cotangents) and not differentiates
            return NO_GRADIENTS * untold + as_python.as_python(self.smallest.request, differentiates)
        return as_python.failing_call(self.result, kata) if self.result else ""


class Verdicts:
    """One verdict at a time, which a newer wish ends. Other threads may `tell` of one, and look at what there is.

    Attributes:
        wishes: files to be judged, and keys that were pressed.
        running: the file that is judged.
        trying: the file of which a call is tried.
        spare: what starts the workers of work that ends when anything is wished for.
        under_way: what is known of it so far, which goes on by itself.
        last: the last verdict on each file. A failing one stands there before the mistake is known that it looks like.
        count: of the changes to that.
        costs: of right answers of ours, in words.
    """

    def __init__(
        self, judge: WarmJudge, ending: str = "", early: Callable[[Result], None] = lambda result: None
    ) -> None:
        """`ending` are the keys that end a verdict, as a file does that is wished for.

        `early` is called with a result that is complete but for the mistake.
        """
        self.judge = judge
        self.early = early
        self.ending = ending
        self.wishes: queue.Queue[AnswerFile | str] = queue.Queue()
        self.telling = threading.Lock()  # else what begins meanwhile would be interrupted itself
        self.running: AnswerFile | None = None
        self.trying: AnswerFile | None = None
        self.spare: Interruptible | None = None
        self.under_way: Result | None = None
        self.last: dict[AnswerFile, Verdict] = {}
        self.before: Result | None = None  # of the file that is judged, the result before
        self.count = 0
        self.costs: dict[Path, list[str]] = {}

    def tell(self, wish: AnswerFile | str) -> None:
        with self.telling:
            self.wishes.put(wish)
            if self.spare:
                self.spare.interrupt()
            if self.running and self.outdated:
                self.judge.interrupt()

    @property
    def outdated(self) -> bool:
        """Whether something is wished for that makes the verdict under way worth nothing."""
        with self.wishes.mutex:
            return any(isinstance(wish, AnswerFile) or wish in self.ending for wish in self.wishes.queue)

    def of(self, file: AnswerFile, state: State) -> Verdict | None:
        """Judges it as it is now, and records the attempt; None where something newer ended that."""
        with self.telling:
            if self.outdated:
                return None
            self.judge.go_on()
            self.running, self.under_way = file, None
            self.before = self.last[file].result if file in self.last else None
        verdict = None
        with contextlib.suppress(Interrupted):
            verdict = self.judged(file, state)
        with self.telling:
            self.keep(file, verdict)
            self.running = None
        return verdict

    def keep(self, file: AnswerFile, verdict: Verdict | None) -> None:
        if verdict:
            self.last[file] = verdict
        self.count += 1

    def shrink(self, file: AnswerFile) -> Smallest | None:
        """Looks for the smallest failing call of the last verdict, until anything is wished for."""
        with self.telling:
            verdict = self.last.get(file)
            if not verdict or not verdict.result or not self.wishes.empty():
                return None
            self.spare = Interruptible(self.judge.launcher)
        found = None
        with contextlib.suppress(Interrupted, Exception):  # a fault of ours costs this line alone, not the session
            found = smallest(file.kata, verdict.result, self.spare)
        with self.telling:
            self.spare = None
            self.keep(file, replace(verdict, smallest=found))
        return found

    def right(self, file: AnswerFile) -> Result | None:
        """Its last result, where that is PASS, so that others may be shown, and these are there."""
        result = self.last[file].result if file in self.last else None
        return result if result and result.state == "solved" and file.kata.reference_file.exists() else None

    def costs_of(self, kata: Kata, other: Path) -> list[str]:
        """What a right answer of ours costs, as its card says; [] where anything is wished for before that is known."""
        with self.telling:
            if other in self.costs or not self.wishes.empty():
                return self.costs.get(other, [])
            self.judge.go_on()
            self.spare = self.judge.launcher
        with contextlib.suppress(Interrupted, GraderError):
            result = self.judge.grade(kata, source_of(kata, other), only="performance", brief=True)
            self.costs[other] = costs_in_words(result)
        with self.telling:
            self.spare = None
        return self.costs.get(other, [])

    def tried(self, file: AnswerFile, text: str) -> Tried:
        """Raises: UsageError, GraderError; Interrupted."""
        with self.telling:
            self.judge.go_on()
            self.trying = file
        try:
            return tried(self.judge.launcher, file.kata, source_of(file.kata, file.path), text)
        finally:
            with self.telling:
                self.trying = None

    def judged(self, file: AnswerFile, state: State) -> Verdict:
        """Raises: Interrupted."""
        result, since, begun, trouble = None, "", "", ""
        try:
            attempts.opened(state, file.kata, file.via)
            begun = attempts.go_on(state, file.kata, file.via)
            result = self.judge.grade(file.kata, source_of(file.kata, file.path), self.look)
            since = self.since(result)
            attempts.record(state, result, self.judge.seed, file.via)
        except GraderError as error:
            trouble = f"the grader of {file.kata.id} cannot grade: {error}"
        except UsageError as error:
            trouble = f"this attempt is not remembered: {error}" if result else str(error)
        return Verdict(datetime.now(), result, since, begun, trouble)

    def since(self, result: Result) -> str:
        """What changed since the result before."""
        return changes(self.before, result) if self.before and not (self.before.todo or result.todo) else ""

    def look(self, result: Result) -> None:
        self.under_way = result
        if result.looking and self.running:
            self.keep(self.running, Verdict(datetime.now(), result, self.since(result)))
            self.early(result)

    @property
    def so_far(self) -> str:
        """How many checks are done, and which call takes long."""
        return f"judging {self.under_way.so_far if self.under_way else ''}".rstrip() + slow_call(self.judge)


def slow_call(judge: WarmJudge) -> str:
    """What of a file is waited for, and for how long, once that is worth a word."""
    call, seconds = judge.call
    return f", {seconds:.0f} s in {call}" if seconds >= SLOW_SECONDS else ""

"""Judges what the pages ask for, one file at a time, with the warm judge and the attempts of `watch`."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import torch

from graders.catalogue.katas import Kata
from graders.desk import attempts, own_tests
from graders.desk.since import changes
from graders.desk.state import State
from graders.desk.watch import SLOW_SECONDS
from graders.faults import GraderError, UsageError
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.warm import Interrupted, WarmJudge


@dataclass(frozen=True)
class AnswerFile:
    """A kata, and which of its files is written: the learner's, that of a review or a sitting, tests beside it."""

    kata: Kata
    via: str = "web"
    tests: bool = False

    @property
    def path(self) -> Path:
        answer = attempts.file_for(self.kata, self.via)
        return own_tests.beside(answer) if self.tests else answer


@dataclass(frozen=True)
class Verdict:
    """What became of a run.

    Args:
        result: None where there is none.
        since: what changed since the run before.
        trouble: why there is no result, or why it is not remembered.
    """

    at: datetime
    result: Result | None = None
    since: str = ""
    trouble: str = ""


class Turn:
    """Runs and sittings judge one at a time: their workers come from one launcher."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.whose = ""  # in words

    @contextlib.contextmanager
    def taken(self, whose: str) -> Iterator[None]:
        with self.lock:
            self.whose = whose
            try:
                yield
            finally:
                self.whose = ""

    @contextlib.contextmanager
    def given_back(self, whose: str) -> Iterator[None]:
        """By who has it, for a while."""
        self.whose = ""
        self.lock.release()
        try:
            yield
        finally:
            self.lock.acquire()
            self.whose = whose


class Runner:
    """A new run cancels the one under way. Pages look at what there is; nothing is sent to them."""

    def __init__(self, judge: WarmJudge, root: Path) -> None:
        self.judge = judge
        self.root = root
        self.wanted: queue.Queue[AnswerFile] = queue.Queue()
        self.telling = threading.Lock()
        self.turn = Turn()
        self.waiting: AnswerFile | None = None  # for its turn
        self.running: AnswerFile | None = None
        self.under_way: Result | None = None  # which goes on by itself
        self.last: dict[AnswerFile, Verdict] = {}
        self.count = 0  # of runs that ended, whatever came of them: what a page shows may have changed

    def run(self, file: AnswerFile) -> None:
        """Judges its file as it is now. Called in another thread."""
        with self.telling:
            self.wanted.put(file)
            if self.running:
                self.judge.interrupt()

    def serve(self) -> None:
        """Judges until Ctrl-C."""
        torch.set_num_threads(1)
        state = State(self.root)
        while True:
            self.waiting = self.wanted.get()
            with self.turn.taken(f"a run of {self.waiting.kata.id}"):
                self.begin(self.waiting)
                self.serve_one(state)

    def serve_one(self, state: State) -> None:
        assert self.running
        verdict = self.judged(state, self.running)
        with self.telling:
            if verdict:
                self.last[self.running] = verdict
            self.running = None
            self.count += 1

    def begin(self, file: AnswerFile) -> None:
        with self.telling:
            while not self.wanted.empty():
                file = self.wanted.get_nowait()
            self.judge.go_on()
            self.waiting, self.running, self.under_way = None, file, None

    def judged(self, state: State, file: AnswerFile) -> Verdict | None:
        """None where another run cancelled it."""
        try:
            attempts.opened(state, file.kata, file.via)
            result = self.judge.grade(file.kata, source_of(file.kata, file.path), self.look)
        except Interrupted:
            return None
        except GraderError as error:
            return Verdict(datetime.now(), trouble=f"the grader of {file.kata.id} cannot grade: {error}")
        except UsageError as error:
            return Verdict(datetime.now(), trouble=str(error))
        before = self.last.get(file)
        known = before.result if before and before.result and not before.result.todo else None
        since = changes(known, result) if known and not result.todo else ""
        try:
            attempts.record(state, result, self.judge.seed, file.via)
        except UsageError as error:
            return Verdict(datetime.now(), result, since, f"this attempt is not remembered: {error}")
        return Verdict(datetime.now(), result, since)

    def look(self, result: Result) -> None:
        self.under_way = result


def slow_call(judge: WarmJudge) -> str:
    """What of a file is waited for, and for how long, once that is worth a word."""
    call, seconds = judge.call
    return f", {seconds:.0f} s in {call}" if seconds >= SLOW_SECONDS else ""

"""Judges what the pages ask for, in turn with the sittings."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import torch

from graders.catalogue.katas import Kata
from graders.desk.state import State
from graders.desk.trying import Tried
from graders.desk.verdicts import AnswerFile, Verdicts
from graders.faults import UsageError
from graders.judge.warm import Interrupted, WarmJudge


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


class Runner(Verdicts):
    """A new run cancels the one under way. Pages look at what there is; nothing is sent to them."""

    def __init__(self, judge: WarmJudge, root: Path) -> None:
        super().__init__(judge)
        self.root = root
        self.turn = Turn()
        self.waiting: AnswerFile | None = None  # for its turn

    def stop(self, file: AnswerFile) -> None:
        """Ends its run or its try, if it is the one under way: its last verdict stays."""
        with self.telling:
            if file in (self.running, self.trying):
                self.judge.interrupt()

    def tried(self, file: AnswerFile, text: str) -> Tried:
        """Once it is its turn; for a thread of its own. Raises: UsageError, GraderError."""
        with self.telling:
            if self.spare:
                self.spare.interrupt()
        try:
            with self.turn.taken(f"a try of {file.kata.id}"):
                return super().tried(file, text)
        except Interrupted:
            raise UsageError("the try was stopped") from None

    def costs_of(self, kata: Kata, other: Path) -> list[str]:
        """Once it is its turn, unless a run waits; for a thread of its own."""
        with self.turn.taken(f"the costs of {kata.id}"):
            return [] if self.waiting else super().costs_of(kata, other)

    def serve(self) -> None:
        """Judges until Ctrl-C."""
        torch.set_num_threads(1)
        state = State(self.root)
        while True:
            self.waiting = self.newest()
            with self.turn.taken(f"a run of {self.waiting.kata.id}"):
                file, self.waiting = self.newest(self.waiting), None
                if self.of(file, state):
                    self.shrink(file)

    def newest(self, known: AnswerFile | None = None) -> AnswerFile:
        """Of the files that are wished for; waits for one where none is known."""
        while known is None or not self.wishes.empty():
            known = cast(AnswerFile, self.wishes.get())  # pages have no keys
        return known

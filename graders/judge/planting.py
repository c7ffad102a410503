"""Bugs planted in a reference, measured: whether each of them shows, and which of them an answer still has."""

from __future__ import annotations

import difflib
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graders.catalogue.bugs import Bug, are_apart, planted, right_file
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import CheckFailed
from graders.judge import checks
from graders.judge.checks import Check
from graders.judge.diagnosis import Diagnosis
from graders.judge.run import DEFAULT_SEED
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import Request
from graders.sandbox.submission import Submission


class Failure(NamedTuple):
    """A check that fails, and the call that it fails at."""

    check: str
    call: str


class Left(NamedTuple):
    """What an answer still has.

    Args:
        bugs: the planted ones that are still there, by their names.
        new: whether it does something that the file does with none of the planted bugs.
    """

    bugs: frozenset[str]
    new: bool


class Planting:
    """A kata's reference with some of its bugs in it, asked what an answer is asked."""

    def __init__(self, kata: Kata, launcher: Launcher, asked: Iterable[Request] = ()) -> None:
        """`asked` are all requests, where it is known what the reference was asked."""
        self.kata = kata
        self.launcher = launcher
        self.diagnosis = Diagnosis(kata, launcher)
        self.vectors = TestVectors(kata.id, kata.grader, DEFAULT_SEED)
        planned = checks.plan(kata.grader, kata.module)
        self.planned = sorted(planned, key=lambda check: check.order)
        self.right = right_file(kata)
        self.made: dict[frozenset[str], Submission] = {}
        self.known = [request for request in asked if not request.measured]

    def close(self) -> None:
        self.diagnosis.close()
        for one in self.made.values():
            one.close()

    def of(self, bugs: Iterable[Bug]) -> Submission:
        """The file with these bugs."""
        bugs = [*bugs]
        names = frozenset(bug.name for bug in bugs)
        if names not in self.made:
            alone = any(bug.slow for bug in bugs)  # what is measured lives alone
            self.made[names] = self.submission(planted(self.right, bugs), Home() if alone else self.diagnosis.home)
        return self.made[names]

    def submission(self, text: str, home: Home) -> Submission:
        grader = self.kata.grader
        return Submission(Source(text, f"{self.kata.id}.py"), grader.names, self.launcher, grader.banned, home)

    def failure(self, bugs: Sequence[Bug]) -> Failure | None:
        """What fails first of the file with these, in the order in which failures are looked at."""
        slow = any(bug.slow for bug in bugs)
        trial = Trial(self.vectors, self.of(bugs), self.of(()), {})
        for check in self.planned:
            if (check.category == "performance") == slow and not passes(check, trial):
                return Failure(check.name, trial.last.with_comment("") if trial.last else "")
        return None

    def is_good(self, bugs: Sequence[Bug]) -> bool:
        """Whether they can be looked for together: the file runs and fails, and each bug shows beside the others.

        Mending any one leaves a file that fails, and that replies otherwise than before somewhere.
        """
        self.diagnosis.home.renew()
        if not are_apart(bugs) or not self.failure(bugs):
            return False
        for few in itertools.combinations(bugs, len(bugs) - 1) if len(bugs) > 1 else ():
            if not self.failure(few) or not self.tell_apart(self.of(bugs), self.of(few), bugs):
                return False
        return not any(self.of(some).unloadable or self.of(some).hangs for some in (bugs, *([bug] for bug in bugs)))

    def tell_apart(self, one: Submission, other: Submission, bugs: Sequence[Bug]) -> bool:
        """Whether anything that is asked gets two replies; of slow ones, whether one more budget is kept."""
        if any(bug.slow for bug in bugs):
            return self.over_budget(one) != self.over_budget(other)
        return any(not self.diagnosis.both.same_reply(one, other, request) for request in self.asked)

    def over_budget(self, one: Submission) -> set[str]:
        """The checks of cost that fail."""
        trial = Trial(self.vectors, one, self.of(()), {})
        return {check.name for check in self.planned if check.category == "performance" and not passes(check, trial)}

    @functools.cached_property
    def asked(self) -> list[Request]:
        """All that is asked of a right answer, but for what is measured."""
        if not self.known:
            trial = Trial(self.vectors, self.of(()), self.of(()), {})
            for check in self.planned:
                if check.category != "performance":
                    passes(check, trial)
            self.known = [request for request, _ in self.of(()).replies.values() if not request.measured]
        return self.known

    def left(self, text: str, bugs: Sequence[Bug]) -> Left:
        """Which of these an answer still has that is not solved: it replies as the file does with those alone.

        A bug is gone where something that is asked gets a reply that only files without it give, and nothing gets one
        that only files with it give. So any other right repair counts, and what is new and wrong hides nothing.
        """
        answer = self.submission(text, Home())
        try:
            if any(bug.slow for bug in bugs):
                return self.left_slow(answer, bugs)
            return self.left_wrong(answer, bugs)
        finally:
            answer.close()

    def left_slow(self, answer: Submission, bugs: Sequence[Bug]) -> Left:
        trial = Trial(self.vectors, answer, self.of(()), {})
        if not all(passes(check, trial) for check in self.planned if check.category != "performance"):
            return Left(frozenset(bug.name for bug in bugs), new=True)
        over = self.over_budget(answer)
        there = frozenset(bug.name for bug in bugs if over & self.over_budget(self.of([bug])))
        return Left(there, new=bool(over) and not there)

    def left_wrong(self, answer: Submission, bugs: Sequence[Bug]) -> Left:
        self.diagnosis.home.renew()
        candidates = [[*some] for count in range(len(bugs), -1, -1) for some in itertools.combinations(bugs, count)]
        likeliest = max(candidates, key=lambda some: likeness(planted(self.right, some), answer.source.text))
        if all(self.alike(likeliest, answer, request) for request in self.asked):
            return Left(frozenset(bug.name for bug in likeliest), new=False)
        shown, gone = set[str](), set[str]()
        new = False
        for request in self.asked:
            found = [some for some in candidates if self.alike(some, answer, request)]
            new = new or not found
            for bug in bugs if found else ():
                having = [bug in some for some in found]
                shown |= {bug.name} if all(having) else set()
                gone |= {bug.name} if not any(having) else set()
        return Left(frozenset(bug.name for bug in bugs) - (gone - shown), new)

    def alike(self, bugs: Sequence[Bug], answer: Submission, request: Request) -> bool:
        return self.diagnosis.both.same_reply(self.of(bugs), answer, request)


def likeness(one: str, other: str) -> float:
    """Of two files, by their lines."""
    return difflib.SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False).ratio()


def passes(check: Check, trial: Trial) -> bool:
    trial.last = None
    try:
        check.ask(trial)
    except CheckFailed:
        return False
    return True

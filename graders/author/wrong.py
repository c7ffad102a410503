"""Judges the wrong answers of a kata in a process of their own, each up to its first failure: `prove` starts it.

Through the learner's door a mistake is asked everything, since a diagnosis needs all replies. Here it is asked until a
check fails, those first by which others were caught, and then only what tells it from the mistakes before it.
"""

from __future__ import annotations

import gc
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from graders.author import altered, bans
from graders.author.fixed import fixed
from graders.author.mutants import mutants
from graders.catalogue import katas
from graders.catalogue.bugs import are_apart, bugs_of
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, read_source
from graders.faults import CheckFailed, GraderError
from graders.judge import checks
from graders.judge.checks import Check
from graders.judge.diagnosis import Diagnosis
from graders.judge.planting import Planting
from graders.judge.run import DEFAULT_SEED
from graders.judge.standard import Known
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.machine import keep_freed_memory, keep_to
from graders.sandbox.messages import Request
from graders.sandbox.submission import COUNTING, LIMIT_SECONDS, WHOLE_SECONDS, Submission

SAMPLED, MOST_SAMPLED = 3, 6  # pairs of bugs: until so many are good, and at most
SPARE = 5  # times as long as the reference a submission may take at least, or the machine be slow


@dataclass(frozen=True)
class Shot:
    """What came of a wrong answer."""

    kind: str  # "mistake", "mutant", of an alternative "deep", or "operator" of torch's that no ban matches
    form: str
    state: str
    message: str
    name: str = ""  # of the mistake
    taken_for: str | None = None  # the mistake that replies alike


@dataclass(frozen=True)
class DebugRounds:
    """What debug rounds can plant: so many mistakes alone; and of some pairs, those that show beside each other."""

    alone: int = 0
    pairs: int = 0
    sampled: int = 0


@dataclass
class Findings:
    """What is wrong with a kata, what came of its wrong answers, what can be planted, and what no seed changes."""

    faults: list[str]
    shots: list[Shot]
    rounds: DebugRounds
    fixed: dict[str, str]  # and its values


def judge(root: Path, name: str, deep: bool, processor: int | None) -> Findings:
    """All of it on one processor.

    Raises: GraderError.
    """
    gc.freeze()
    keep_to(processor)
    keep_freed_memory()
    launcher = new_launcher()  # before a grader is imported
    assert launcher.isolation
    torch.set_num_threads(1)
    bench = Bench(katas.find_one(name, root), launcher)
    try:
        shots = [*bench.mistakes(), *bench.mutants(deep), *bench.unmatched()]
        survivors = altered.survivors(bench.planned, bench.vectors, bench.right)
        unchanged, alone = fixed(bench.kata)
        faults = [*bench.lateness(), *bench.bans(), *survivors]
        faults += [f"no seed changes a size or a number of {one}" for one in alone]
        return Findings(faults, shots, bench.debug_rounds(), unchanged)
    finally:
        bench.close()
        launcher.close()


class Bench:
    """Where the wrong answers of a kata are asked, one after the other."""

    def __init__(self, kata: Kata, launcher: Launcher) -> None:
        """Raises: GraderError where the reference fails."""
        self.kata = kata
        self.diagnosis = Diagnosis(kata, launcher)
        self.launcher = launcher
        self.home = Home()  # of the mutants
        self.vectors, self.planned = (
            TestVectors(kata.id, kata.grader, DEFAULT_SEED),
            checks.plan(kata.grader, kata.module),
        )
        source = read_source(kata.reference_file, kata.reference_file.name).text
        self.right, self.reference = self.submission(source), self.submission(source)
        self.catches: Counter[str] = Counter()  # of each check
        failed = self.first_failure(Trial(self.vectors, self.right, self.reference, {}))
        if failed:
            raise GraderError(f"the reference should pass, but {failed[0].name}: {failed[1]}")

    def submission(self, source: str, home: Home | None = None) -> Submission:
        return Submission(
            Source(source, "submission.py"), self.kata.grader.names, self.launcher, self.kata.grader.banned, home
        )

    def close(self) -> None:
        self.diagnosis.close()
        self.home.close()
        for submission in (self.right, self.reference):
            submission.close()

    def lateness(self) -> list[str]:
        """What is wrong with the time that the reference takes, of the processor: a busy machine needs more."""
        seconds = [reply.seconds for _, reply in self.right.replies.values()]
        plain = [reply.seconds for request, reply in self.right.replies.values() if request.measured != "cost"]
        return [
            f"the reference takes {took:.2f} s, and {SPARE} times that is above the time limit of a {what}"
            for what, took, limit in (
                ("kata", sum(seconds), WHOLE_SECONDS),
                ("call", max(plain), LIMIT_SECONDS),
                ("counted call", max(seconds), COUNTING * LIMIT_SECONDS),
            )
            if SPARE * took > limit
        ]

    def bans(self) -> Iterator[str]:
        """What is wrong with the bans, and with torch's own answer, which shows what they are for."""
        for word in bans.without_effect(self.kata.grader.banned):
            yield f"the ban {word!r} matches no operator and no function of torch's"
        file = self.kata.solutions / "builtin.py"
        if file.exists():
            source, names = read_source(file, file.name), self.kata.grader.names
            torch_s = Submission(source, names, self.launcher)
            yield from bans.wrong_values(Trial(self.vectors, torch_s, None, {}))
            torch_s.close()

    def unmatched(self) -> Iterator[Shot]:
        for name in bans.unmatched(self.kata, self.vectors):
            yield Shot("operator", f"builtin.py runs {name}", "solved", "")

    def mistakes(self) -> Iterator[Shot]:
        for known, one in self.diagnosis.candidates:
            shot = self.mistake(known, one, brief=known.slow)
            if known.slow and (shot.state, shot.taken_for) != ("failing", known.name):
                shot = self.mistake(known, one)  # asked all that may tell
            yield shot

    def mistake(self, known: Known, one: Submission, brief: bool = False) -> Shot:
        """A slow one should fail by what it costs, and few of those before it cost the same: to ask that is brief."""
        asked = [request for request, _ in self.right.replies.values()]
        trial = Trial(self.vectors, one, self.reference, {})
        trial.brief = brief
        failed = self.first_failure(trial, known.slow)
        wrong = {failed[0].category} - {"contract"} if failed else set()
        found = self.diagnosis.closest(one, in_order(trial, asked), wrong) if failed else None
        form, taken_for = known.form or known.name, found.name if found else None
        return Shot("mistake", form, *state_of(one, failed), known.name, taken_for)

    def debug_rounds(self) -> DebugRounds:
        bugs, sampled, good = bugs_of(self.kata), 0, 0
        pairs = [pair for pair in itertools.combinations(bugs, 2) if are_apart(pair)]
        planting = Planting(self.kata, self.launcher, [request for request, _ in self.right.replies.values()])
        for pair in random.Random(self.kata.id).sample(pairs, min(MOST_SAMPLED, len(pairs))):
            if good < SAMPLED:
                sampled, good = sampled + 1, good + planting.is_good(pair)
        planting.close()
        return DebugRounds(len(bugs), good, sampled)

    def mutants(self, deep: bool) -> Iterator[Shot]:
        for name, source in mutants(self.kata.reference_file.read_text(encoding="utf-8")).items():
            yield Shot("mutant", name, *self.judged(source))
        for file in self.kata.alternatives if deep else []:
            for name, source in mutants(file.read_text(encoding="utf-8")).items():
                yield Shot("deep", f"{file.name}: {name}", *self.judged(source))

    def judged(self, mutant: str) -> tuple[str, str]:
        self.home.renew()
        one = self.submission(mutant, self.home)
        one.most_hangs = 1  # it fails by that
        failed = self.first_failure(Trial(self.vectors, one, self.reference, {}))
        one.replies.clear()  # the home still knows it
        return state_of(one, failed)

    def first_failure(self, trial: Trial, slow: bool = False) -> tuple[Check, str] | None:
        """Those checks come first that caught the most so far; budgets last, or first of what is known to be slow.

        Bad arguments come after all other values: what fails there alone is only a missing refusal.
        """

        def order(check: Check) -> tuple[bool, bool, int]:
            return (check.category == "performance") != slow, check.category == "contract", -self.catches[check.name]

        for check in sorted(self.planned, key=order):
            trial.last = None
            try:
                check.ask(trial)
            except CheckFailed as failure:
                self.catches[check.name] += 1
                return check, str(failure)
        return None


def state_of(one: Submission, failed: tuple[Check, str] | None) -> tuple[str, str]:
    """As in a result, and a message that names the check."""
    if failed is None:
        return "solved", ""
    return "error" if one.unloadable else "failing", f"{failed[0].name}: {failed[1]}"


def in_order(trial: Trial, asked: list[Request]) -> list[Request]:
    """The call that failed first of all, then what was asked before it, then all that the reference was asked."""
    own = [request for request, _ in trial.submission.replies.values()]
    ordered = ([trial.last] if trial.last else []) + own + asked
    return list({request.message: request for request in ordered}.values())

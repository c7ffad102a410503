"""Judges the wrong answers of a kata in a process of their own, each up to its first failure: `prove` starts it.

Through the learner's door a mistake is asked everything, since a diagnosis needs all replies. Here it is asked until a
check fails, those first by which others were caught, and then only what tells it from the mistakes before it.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch

from graders.author import altered, bans
from graders.author.fixed import fixed
from graders.author.mutants import mutants
from graders.author.proof import DebugRounds, Proof
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


def judge(root: Path, name: str, deep: bool, processor: int | None) -> Proof:
    """All of it on one processor; `deep` lists mutants of alternatives that pass, too.

    Raises: GraderError.
    """
    gc.freeze()
    keep_to(processor)
    keep_freed_memory()
    with contextlib.closing(new_launcher()) as launcher:  # before a grader is imported
        assert launcher.isolation
        torch.set_num_threads(1)
        with contextlib.closing(Bench(katas.find_one(name, root), launcher)) as bench:
            bench.prove(deep)
            return bench.proof


class Bench:
    """Where the wrong answers of a kata are asked, one after the other."""

    def __init__(self, kata: Kata, launcher: Launcher) -> None:
        """Raises: GraderError where the reference fails."""
        self.kata = kata
        self.proof = Proof(kata.id)
        self.diagnosis = Diagnosis(kata, launcher)
        self.launcher = launcher
        self.home = Home()  # of the mutants
        self.vectors = TestVectors(kata.id, kata.grader, DEFAULT_SEED)
        self.planned = checks.plan(kata.grader, kata.module)
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

    def prove(self, deep: bool) -> None:
        """Judges all wrong answers, then looks at the bans, at what is drawn and at own tests.

        Most mutants of alternatives that pass are right: a person has to look at them.
        """
        kata, proof = self.kata, self.proof
        self.mistakes()
        self.mutants()
        if deep:
            proof.deep += self.passing_mutants_of_alternatives()
        for name in bans.unmatched(kata, self.vectors):
            proof.count_survivor("an operator that no ban matches", f"builtin.py runs {name}", kata.equivalents)
        unchanged, alone = fixed(kata)
        for name, values in unchanged.items():
            proof.count_fixed(name, values, kata.fixed)
        proof.faults += [f"no seed changes a size or a number of {one}" for one in alone]
        proof.faults += [*self.lateness(), *self.bans(), *altered.survivors(self.planned, self.vectors, self.right)]
        proof.rounds = self.debug_rounds()

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

    def mistakes(self) -> None:
        """Every form of a mistake should fail, and the author's own be named."""
        own = {mistake.name for mistake in self.kata.mistakes}
        for known, one in self.diagnosis.candidates:
            state, message, taken_for = self.mistake(known, one, brief=known.slow)
            if known.slow and (state, taken_for) != ("failing", known.name):
                state, message, taken_for = self.mistake(known, one)  # asked all that may tell
            form = known.form or known.name
            if known.name in own:
                self.proof.count_mistake(form, known.name, state, message, taken_for)
                continue
            self.proof.standard += 1
            self.proof.standard_killed += state == "failing"
            if state != "failing":
                self.proof.count_survivor(f"the standard mistake {form}", form, self.kata.equivalents)

    def mistake(self, known: Known, one: Submission, brief: bool = False) -> tuple[str, str, str | None]:
        """What it came to, a message, and the mistake that replies alike.

        A slow one should fail by what it costs, and few of those before it cost the same: to ask that is brief.
        """
        asked = [request for request, _ in self.right.replies.values()]
        trial = Trial(self.vectors, one, self.reference, {})
        trial.brief = brief
        failed = self.first_failure(trial, known.slow)
        wrong = {failed[0].category} - {"contract"} if failed else set()
        found = self.diagnosis.closest(one, in_order(trial, asked), wrong) if failed else None
        return *state_of(one, failed), found.name if found else None

    def debug_rounds(self) -> DebugRounds:
        bugs, sampled, good = bugs_of(self.kata), 0, 0
        pairs = [pair for pair in itertools.combinations(bugs, 2) if are_apart(pair)]
        planting = Planting(self.kata, self.launcher, [request for request, _ in self.right.replies.values()])
        for pair in random.Random(self.kata.id).sample(pairs, min(MOST_SAMPLED, len(pairs))):
            if good < SAMPLED:
                sampled, good = sampled + 1, good + planting.is_good(pair)
        planting.close()
        return DebugRounds(len(bugs), good, sampled)

    def mutants(self) -> None:
        for name, source in mutants(self.kata.reference_file.read_text(encoding="utf-8")).items():
            survives = self.judged(source)[0] == "solved"
            self.proof.mutants += 1
            self.proof.mutants_killed += not survives
            if survives:
                self.proof.count_survivor("a mutant", name, self.kata.equivalents)

    def passing_mutants_of_alternatives(self) -> Iterator[str]:
        for file in self.kata.alternatives:
            for name, source in mutants(file.read_text(encoding="utf-8")).items():
                if self.judged(source)[0] == "solved":
                    yield f"{file.name}: {name}"

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

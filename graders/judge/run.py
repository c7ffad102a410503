"""One grading run, as it is whoever drives it: submissions, their checks, and what came of them."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, read_source
from graders.catalogue.stub import is_untouched
from graders.faults import CheckFailed, GivenUp, GraderError, NotAsked, UsageError
from graders.judge import checks
from graders.judge.behaviour import behaviour
from graders.judge.checks import Check
from graders.judge.diagnosis import Diagnosis
from graders.judge.flagged import flagged
from graders.judge.given import given_in_words
from graders.judge.kept import kept_between
from graders.judge.results import AND, STOPPED, Outcome, Result
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.submission import Submission
from graders.worker.visible import visible

DEFAULT_SEED = 1
LONGEST_PATH = 4096  # characters


@dataclass
class Options:
    """What to grade, and how."""

    reference: bool = False
    submissions: list[Source] = field(default_factory=list)
    seed: int = DEFAULT_SEED
    devices: list[str] = field(default_factory=lambda: ["cpu"])
    first_failure: bool = False  # stop each submission at its first failing check
    diagnosed: bool = True  # whether it is looked for what a failing submission behaves like
    brief: bool = False  # see Trial.brief


@dataclass
class Shared:
    """What the submissions of a kata share, by its name; a judge that stays keeps it from run to run."""

    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    references: dict[str, Submission] = field(default_factory=dict)
    home: Home = field(default_factory=Home)  # of the references
    vectors: dict[str, list[TestVectors]] = field(default_factory=dict)  # one for each device


def source_of(kata: Kata, file: Path, base: Path | None = None) -> Source:
    """The file as it is now, named by its path from `base`, else from the folder that has the katas."""
    shown = visible(os.path.relpath(file, base or kata.root).replace("\n", "\\n"), LONGEST_PATH)
    folder = file.is_dir() and not file.is_symlink()
    if file == kata.answer_file and (folder or not file.exists()):
        back = f"what you committed last (git checkout -- {shown}) or the stub (nox -s reset -- {kata.id})"
        return Source("", shown, f"is {'a folder; move it away, and' if folder else 'not there;'} bring back {back}")
    return read_source(file, shown)


class Run:
    """One grading run: its options, its worker launcher and its results."""

    def __init__(
        self,
        options: Options,
        launcher: Launcher,
        watcher: Callable[[Result], None] = lambda result: None,
        shared: Shared | None = None,
    ) -> None:
        self.options = options
        self.watcher = watcher  # called whenever a check or a whole submission is done
        self.results: list[Result] = []
        self.pending: dict[int, SubmissionRun] = {}
        self.shared = shared = shared or Shared()
        self.diagnoses, self.references, self.all_vectors = shared.diagnoses, shared.references, shared.vectors
        self.launcher = launcher
        launcher.cuda = "cuda" in options.devices

    def close(self) -> None:
        for pending in self.pending.values():
            pending.trial.submission.close()
        self.shared.home.close()
        self.launcher.close()

    def release(self, kata: str) -> None:
        """Of what its submissions shared: all of them are judged."""
        for vectors in self.all_vectors.pop(kata, ()):
            vectors.forget()
        if kata in self.diagnoses:
            self.diagnoses.pop(kata).close()
        if kata in self.references:
            self.references.pop(kata).replies.clear()

    def submissions_of(self, kata: Kata) -> list[Source]:
        file = kata.reference_file if self.options.reference else kata.answer_file
        return self.options.submissions or [source_of(kata, file)]

    def prepare(self, kata: Kata, source: Source) -> Iterator[tuple[SubmissionRun, Check]]:
        """Plans the checks of one submission. Raises: GraderError."""
        if kata.id not in self.all_vectors:
            made = [TestVectors(kata.id, kata.grader, self.options.seed, device) for device in self.options.devices]
            self.all_vectors[kata.id] = made
        result = Result(kata.id, kata.topic, source.shown, source_text=source.text)
        submission = Submission(source, kata.grader.names, self.launcher, kata.grader.banned)
        if not source.unreadable:
            with contextlib.suppress(UsageError):  # then nobody knows
                result.todo = is_untouched(kata, source.text)
            if result.todo:
                result.rank = kata.rank
        result.budgeted = kata.reference_file.exists()
        planned = checks.plan(kata.grader, kata.module, with_budgets=result.budgeted)
        result.planned = len(planned) * len(self.options.devices)
        self.results.append(result)
        for index, vectors in enumerate(self.all_vectors[kata.id]):
            pending = SubmissionRun(
                self, kata, result, Trial(vectors, submission, self.reference_of(kata), result.costs)
            )
            pending.trial.brief = self.options.brief
            self.pending[id(pending)] = pending
            if index == 0 and not (result.todo or self.options.first_failure):  # the rules look at all calls
                early = [check for check in planned if check.core and check.category != "rules"]
                pending.core.update((check.name, check) for check in early)
            for check in planned:
                yield pending, check if index == 0 else on_device(check, vectors.device)

    def reference_of(self, kata: Kata) -> Submission | None:
        """The one that budgets compare with, shared by all submissions of a kata; None where it was removed."""
        if kata.id not in self.references and kata.reference_file.exists():
            source, home = source_of(kata, kata.reference_file), self.shared.home
            self.references[kata.id] = Submission(source, kata.grader.names, self.launcher, home=home)
        self.shared.home.renew()
        return self.references.get(kata.id)

    def refuse(self, kata: Kata, error: GraderError) -> None:
        """Records a grader that cannot grade; the other katas go on."""
        outcome = Outcome("contract/grader", "contract", "error", checks.POINTS, str(error), graders_fault=True)
        result = Result(
            kata.id, kata.topic, os.path.relpath(kata.answer_file, kata.root), message=str(error), planned=1
        )
        result.outcomes.append(outcome)
        self.results.append(result)
        self.watcher(result)

    def finish(self, pending: SubmissionRun) -> None:
        """Diagnoses a failing submission once its last check has reported, and lets go of its worker."""
        result, submission = pending.result, pending.trial.submission
        result.review = flagged(result.source_text)
        if submission.unloadable:
            result.error, result.message = True, submission.unloadable
        elif pending.tells_a_mistake:
            diagnosis = self.diagnoses.setdefault(result.kata, Diagnosis(pending.kata, submission.launcher))
            failing = {outcome.category for outcome in result.failures} - {"contract"}
            core = pending.trial.vectors.of_the_core
            found = []
            with contextlib.suppress(GivenUp):  # it took too much for a call that would tell
                found = diagnosis.mistakes_in(submission, pending.suspects, failing, core)
                found = found or kept_between(diagnosis.both, diagnosis.right, submission, pending.suspects)
                found = found or [*filter(None, [behaviour(pending.trial, pending.suspects, diagnosis.anew)])]
            if found:
                result.mistake, result.diagnosis = found[0].name, AND.join(one.diagnosis for one in found)
        elif result.state == "todo" and not result.todo:
            asked = result.planned - result.skipped
            result.message = f"{asked} of {result.planned} checks ran, and passed; run all of them for a verdict"
        submission.close()
        submission.replies.clear()
        pending.trial.last = None


@dataclass
class SubmissionRun:
    """A submission on one device, while its checks are coming in."""

    run: Run
    kata: Kata
    result: Result
    trial: Trial
    # The requests that a check failed on, by identity, and how soon that is looked at: the core first.
    suspects: dict[int, tuple[bool, int]] = field(default_factory=dict)
    core: OrderedDict[str, Check] = field(default_factory=OrderedDict)  # to be asked before the rest, by name
    known: dict[str, tuple[Outcome, BaseException | None]] = field(default_factory=dict)  # not reported yet

    def report(self, outcome: Outcome) -> None:
        self.result.outcomes.append(outcome)
        self.result.seconds += outcome.seconds
        if self.result.complete:
            if self.tells_a_mistake:
                self.result.looking = True  # which may take longer than all checks
                self.run.watcher(self.result)
            try:
                self.run.finish(self)
            except Exception as error:  # a fault of ours that one submission met: the others go on
                ours = f"the judge itself failed: {type(error).__name__}: "  # or an edit in mistakes.py matches nothing
                fault = f"{'' if isinstance(error, GraderError) else ours}{error}"
                self.result.outcomes[-1] = replace(outcome, state="error", message=fault, graders_fault=True)
            self.result.looking = False
        self.run.watcher(self.result)

    @property
    def tells_a_mistake(self) -> bool:
        """Whether it is looked for what it behaves like, after the last check."""
        result = self.result
        failing = result.state == "failing" and result.fully_asked and not self.trial.submission.unloadable
        return self.run.options.diagnosed and failing and bool(self.suspects)

    def leave_out(self, check: Check) -> None:
        self.core.pop(check.name, None)
        self.report(Outcome(check.name, check.category, "skipped", check.points, core=check.core))

    def skip_reason(self, check: Check) -> str:
        """Why the check need not be asked any more, if so."""
        failed = {outcome.category for outcome in self.result.failures}
        if self.run.options.first_failure and failed:
            return STOPPED
        if check.category == "performance" and "rules" in failed:
            return "not tested before the rules are kept"
        if check.category == "performance" and any(outcome.core for outcome in self.result.failures):
            return "not tested before the values are right"
        for outcome in self.result.failures:
            if outcome.name in check.after:
                return f"not tested before {outcome.name} passes"
        return "not started: the stub is untouched" if self.result.todo else ""

    def ask(self, check: Check) -> str:
        """Asks the check and reports what came of it, or why it was not asked, which is returned.

        The core is asked first, and reported in its turn: nothing that bad arguments or edges take costs any of it.

        Raises: CheckFailed where it fails; whatever the grader raises.
        """
        while self.core and not check.core:
            name, early = self.core.popitem(last=False)
            self.known[name] = self.outcome_of(early)
        self.core.pop(check.name, None)
        outcome, error = self.known.pop(check.name) if check.name in self.known else self.outcome_of(check)
        self.report(outcome)
        if error:
            raise error
        return outcome.message or "" if outcome.state == "skipped" else ""

    def outcome_of(self, check: Check) -> tuple[Outcome, BaseException | None]:
        """What came of asking it, and what was raised where it failed. Raises: KeyboardInterrupt."""
        trial, why = self.trial, self.skip_reason(check)
        trial.last = None
        if why:
            return self.told(check, "skipped", why), None
        start = time.perf_counter()
        try:
            check.ask(trial)
            return self.told(check, "pass", None, time.perf_counter() - start), None
        except KeyboardInterrupt:
            raise
        except CheckFailed as failure:
            if isinstance(failure, NotAsked) and failure.kind != "error" and self.result.failures:
                trial.last = None
                return self.told(check, "skipped", "not tested before the call returns"), None
            error: BaseException = failure
            state, message = failure.kind, str(failure)
        except BaseException as fault:
            kind = f"the grader itself failed: {type(fault).__name__}: " * (not isinstance(fault, GraderError))
            state, message, error = "error", f"{kind}{fault}", fault
        if trial.last is not None and trial.last.message in trial.submission.replies:
            place = not check.core, check.order
            self.suspects[id(trial.last)] = min(place, self.suspects.get(id(trial.last), place))
        is_ours = not isinstance(error, CheckFailed)
        return self.told(check, state, message, time.perf_counter() - start, is_ours), error

    def run_check(self, check: Check) -> str | None:
        """Asks the check and reports what came of it; returns the traceback where the grader itself failed.

        Raises: what went wrong beside the check.
        """
        try:
            self.ask(check)
        except CheckFailed:
            pass
        except Exception:
            if not self.result.outcomes[-1].graders_fault:
                raise
            return traceback.format_exc()
        return None

    def told(self, check: Check, state: str, message: str | None, seconds: float = 0.0, fault: bool = False) -> Outcome:
        trial, call = self.trial, ""
        if trial.last:
            notes = trial.vectors.by_default(trial.last), trial.last.mode, f"seed {trial.vectors.seed}"
            call = trial.last.with_comment(", ".join(filter(None, notes)))
            if message and not trial.last.measured:
                self.result.requests[check.name] = trial.last
        return Outcome(
            check.name,
            check.category,
            state,  # type: ignore[arg-type]  # one of the states
            check.points,
            message,
            call,
            trial.reply.printed if state not in ("pass", "skipped") else "",
            seconds,
            fault,
            check.order,
            check.core,
            given_in_words(trial.last, trial.reply, message) if trial.last and message else "",
            trial.reply.messages if message else (),
        )


def on_device(check: Check, device: str) -> Check:
    """A check on a further device, where it earns no points and is no part of the core."""
    after = tuple(f"{name}/{device}" for name in check.after)
    return replace(check, name=f"{check.name}/{device}", points=0, after=after, core=False)

"""The pytest plugin: every grader.py becomes a file of items, one for each check of each submission."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from graders import checks, processes
from graders.checks import Check
from graders.exam import Exam
from graders.katas import Kata, kata_at
from graders.mistakes import Diagnosis
from graders.results import Outcome, Result, State
from graders.spec import CATEGORIES, GraderError
from graders.stub import stub_of
from graders.submission import CheckFailed, Submission, Unreadable, read_source, same_program
from graders.trial import Trial

DEFAULT_SEED = 1


@dataclass
class Options:
    """What to grade, and how."""

    reference: bool = False
    submissions: list[Path] = field(default_factory=list)
    seed: int = DEFAULT_SEED
    devices: list[str] = field(default_factory=lambda: ["cpu"])
    first_failure: bool = False  # stop each submission at its first failing check


class Run:
    """One grading run: its options, its worker launcher and its results. Given to pytest as a plugin."""

    def __init__(
        self,
        options: Options | None = None,
        watcher: Callable[[Result], None] = lambda result: None,
        launcher: processes.Launcher | None = None,
    ) -> None:
        self.options = options or Options()
        self.watcher = watcher  # called whenever a check or a whole submission is done
        self.grading = options is not None  # else pytest was started by hand
        self.results: list[Result] = []
        self.pending: dict[int, Pending] = {}
        self.diagnoses: dict[str, Diagnosis] = {}
        self.references: dict[str, Submission] = {}
        self.launcher = launcher

    def pytest_configure(self, config: pytest.Config) -> None:
        for category in CATEGORIES:
            config.addinivalue_line("markers", f"{category}: the category that a kata's own test function counts in")

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        named = parent.session.isinitpath(file_path)  # on the command line: then pytest makes a module of it, see below
        return None if named else self.pytest_pycollect_makemodule(file_path, parent)

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if module_path.name != "grader.py" or module_path.parents[2].name != "katas":
            return None
        if self.launcher is None:
            self.launcher = processes.launcher()  # before any grader is imported: see processes.py
        file: pytest.Collector = GraderFile.from_parent(parent, path=module_path)
        return file

    def pytest_internalerror(self, excrepr: object) -> None:
        if self.grading:
            print(f"error: the grader itself failed\n{excrepr}", file=sys.stderr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if self.grading and report.failed:
            print(f"error: the grader itself failed\n{report.longrepr}", file=sys.stderr)

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        for item in items:
            if isinstance(item, CheckItem):
                item.pending.report(Outcome(item.check.name, item.check.category, "skipped", item.check.points))

    @pytest.hookimpl(trylast=True)  # after the files are torn down
    def pytest_sessionfinish(self) -> None:
        self.close()

    def close(self) -> None:
        for pending in self.pending.values():
            pending.trial.submission.close()
        if self.launcher is not None:
            self.launcher.close()

    def move_to(self, launcher: processes.Launcher) -> None:
        """Has all workers that are not started yet started there."""
        self.launcher = launcher
        for submission in (*(pending.trial.submission for pending in self.pending.values()), *self.references.values()):
            submission.launcher = launcher

    def submissions_of(self, kata: Kata) -> list[Path]:
        if self.options.submissions:
            return self.options.submissions
        return [kata.reference_file if self.options.reference else kata.answer_file]

    def prepare(self, kata: Kata, path: Path, exams: list[Exam]) -> Iterator[tuple[Pending, Check]]:
        """Plans the checks of one submission. Raises: GraderError."""
        assert self.launcher is not None
        shown = os.path.relpath(path, kata.root)
        result = Result(kata.id, kata.topic, shown, kata.grader.level)
        try:
            submission = self.read(kata, path, shown)
            if kata.reference_file.exists():
                stub = stub_of(kata.reference_file.read_text(encoding="utf-8"))
                result.todo = same_program(submission.source, stub)
        except Unreadable as error:
            submission = Submission(shown, "", [], self.launcher)
            submission.unloadable = str(error)
        planned = checks.plan(kata.grader, kata.module, with_budgets=kata.reference_file.exists())
        result.planned = len(planned) * len(self.options.devices)
        self.results.append(result)
        for index, exam in enumerate(exams):
            pending = Pending(self, kata, result, Trial(exam, submission, self.reference_of(kata), result.costs))
            self.pending[id(pending)] = pending
            for check in planned:
                yield pending, check if index == 0 else elsewhere(check, exam.device)

    def reference_of(self, kata: Kata) -> Submission | None:
        """The one that budgets compare with, shared by all submissions of a kata; None where it was removed."""
        if kata.id not in self.references and kata.reference_file.exists():
            shown = os.path.relpath(kata.reference_file, kata.root)
            self.references[kata.id] = self.read(kata, kata.reference_file, shown)
        return self.references.get(kata.id)

    def read(self, kata: Kata, path: Path, shown: str) -> Submission:
        """Raises: Unreadable."""
        assert self.launcher is not None
        source = read_source(path, shown)
        names = [name for answer in kata.grader.answers for name in (answer.name, f"{answer.name}.forward")]
        return Submission(shown, source, names, self.launcher, kata.grader.banned)

    def refuse(self, kata: Kata, error: GraderError) -> None:
        """Records a grader that cannot grade; the other katas go on."""
        outcome = Outcome("contract/grader", "contract", "error", checks.POINTS, str(error), graders_fault=True)
        result = Result(
            kata.id, kata.topic, os.path.relpath(kata.answer_file, kata.root), message=str(error), planned=1
        )
        result.outcomes.append(outcome)
        self.results.append(result)
        self.watcher(result)

    def finish(self, pending: Pending) -> None:
        """Diagnoses a failing submission once its last check has reported, and lets go of its worker."""
        result, submission = pending.result, pending.trial.submission
        if submission.unloadable:
            result.error, result.message = True, submission.unloadable
        elif result.state == "failing":
            diagnosis = self.diagnoses.setdefault(result.kata, Diagnosis(pending.kata, submission.launcher))
            slow = {outcome.category for outcome in result.failures} == {"performance"}
            mistake = diagnosis.name(submission, pending.suspects, slow)
            if mistake:
                result.mistake, result.diagnosis = mistake.name, mistake.diagnosis
        elif result.state == "todo" and not result.todo:
            asked = result.planned - result.skipped
            result.message = f"{asked} of {result.planned} checks were asked and passed; ask them all for a verdict"
        submission.close()
        submission.replies.clear()
        pending.trial.last = None


@dataclass
class Pending:
    """A submission on one device, while its checks are coming in."""

    run: Run
    kata: Kata
    result: Result
    trial: Trial
    suspects: set[int] = field(default_factory=set)  # the requests that a check failed on, by identity

    def report(self, outcome: Outcome) -> None:
        self.result.outcomes.append(outcome)
        self.result.seconds += outcome.seconds
        if self.result.complete:
            self.run.finish(self)
        self.run.watcher(self.result)

    def moot(self, check: Check) -> str:
        """Why the check need not be asked any more, if so."""
        failed = {outcome.category for outcome in self.result.failures}
        if self.run.options.first_failure and failed:
            return "not asked, since an earlier check failed"
        if check.category == "performance" and failed & {"contract", "shapes", "numerics", "gradients"}:
            return "not asked before the values are right"
        return ""


def elsewhere(check: Check, device: str) -> Check:
    """The same check on a further device, where it earns no points."""
    return Check(f"{check.name}/{device}", check.category, check.ask)


class GraderFile(pytest.File):
    """A grader.py, collected: one item for each check of each submission."""

    def collect(self) -> Iterator[pytest.Item]:
        run = run_of(self.config)
        kata = kata_at(self.path)
        paths = run.submissions_of(kata)
        try:
            self.exams = [Exam(kata.id, kata.grader, run.options.seed, device) for device in run.options.devices]
            for path in paths:
                for pending, check in run.prepare(kata, path, self.exams):
                    label = f"{check.name}[{path.name}]" if len(paths) > 1 else check.name
                    item: CheckItem = CheckItem.from_parent(self, name=label, pending=pending, check=check)
                    item.add_marker(check.category)
                    yield item
        except GraderError as error:
            if not run.grading:
                raise self.CollectError(str(error)) from error
            run.refuse(kata, error)

    def teardown(self) -> None:
        """Its checks are done: what they shared is given back."""
        for exam in self.exams:
            exam.forget()
        run = run_of(self.config)
        for diagnosis in run.diagnoses.values():
            diagnosis.close()
        for reference in run.references.values():
            reference.close()
            reference.replies.clear()
        run.diagnoses.clear()
        run.references.clear()


class CheckItem(pytest.Item):
    """One check of one submission, as pytest sees it."""

    def __init__(self, *, pending: Pending, check: Check, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # pytest's own arguments pass through
        self.pending = pending
        self.check = check

    def runtest(self) -> None:
        trial, result = self.pending.trial, self.pending.result
        why = "not started: the stub is untouched" if result.todo else self.pending.moot(self.check)
        if why:
            self.report("skipped", why, 0.0)
            pytest.skip(why)
        start = time.perf_counter()
        trial.last = None
        state: State = "pass"
        message, fault = None, False
        try:
            self.check.ask(trial)
        except CheckFailed as failure:
            state, message = failure.kind, str(failure)  # type: ignore[assignment]  # one of the states
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                state = "skipped"
            else:
                state, fault = "error", True
                message = f"the grader itself failed: {type(error).__name__}: {error}"
            raise
        finally:
            if state != "skipped":
                if state != "pass" and trial.last is not None:
                    self.pending.suspects.add(id(trial.last))
                self.report(state, message, time.perf_counter() - start, fault)

    def report(self, state: State, message: str | None, seconds: float, fault: bool = False) -> None:
        trial, check = self.pending.trial, self.check
        call = f"{trial.last.text}  # seed {trial.exam.seed}" if trial.last else ""
        output = trial.submission.printed if state not in ("pass", "skipped") else ""
        self.pending.report(
            Outcome(check.name, check.category, state, check.points, message, call, output, seconds, fault)
        )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The sentence and the call, without our frames; a fault of the grader keeps them."""
        if isinstance(excinfo.value, CheckFailed):
            call = self.pending.trial.last.text if self.pending.trial.last else ""
            return f"{excinfo.value}" + (f"\n  call  {call}" if call else "")
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


def run_of(config: pytest.Config) -> Run:
    run = config.pluginmanager.get_plugin("grading_run")
    assert isinstance(run, Run)
    return run


def pytest_configure(config: pytest.Config) -> None:
    """Pytest was started by hand: grade the learner's files with the defaults."""
    if config.pluginmanager.get_plugin("grading_run") is None:
        config.pluginmanager.register(Run(), "grading_run")

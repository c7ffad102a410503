"""The pytest plugin: every grader.py becomes a file of items, one for each check of each submission."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from graders.catalogue.katas import kata_at
from graders.desk import attempts
from graders.faults import CheckFailed, GraderError
from graders.judge.checks import Check
from graders.judge.results import Outcome
from graders.judge.run import Options, Run, SubmissionRun
from graders.kata.spec import CATEGORIES
from graders.sandbox.launcher import new_launcher

RUN = pytest.StashKey[Run]()
CORE = "core"
ONLY_CORE = "core:"  # what `-k core` stands for on our command line: by itself it would match every "scores"
BY_HAND = pytest.StashKey[Path]()  # the clone's folder, where pytest was not started by our command line
WORDS = r"f?\"((?:\w|{[^{}\"]+})+)\""  # a name, or a pattern of several
NAMED = re.compile(rf"\w\(\s*{WORDS}|^def test_(\w+)|^test_(\w+) =|^(GRADER)\b", re.MULTILINE)
MENTIONED = re.compile(rf"{WORDS}|^def (\w+)", re.MULTILINE)  # a list of cases, a scenario that a case is called after
GAP = re.compile("{[^{}]+}")


def pytest_configure(config: pytest.Config) -> None:
    for category in CATEGORIES:
        config.addinivalue_line("markers", f"{category}: the category that a kata's own test function counts in")
    config.addinivalue_line("markers", f"{CORE}: a check of the core, which right mathematics passes")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    named = parent.session.isinitpath(file_path)  # on the command line: then pytest makes a module of it, see below
    return None if named or file_path.name != "grader.py" else pytest_pycollect_makemodule(file_path, parent)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Of a grader.py, and of the learner's file where that is named: it is judged, and not imported here."""
    if module_path.name not in ("grader.py", f"{module_path.parent.name}.py"):
        return None
    if module_path.parents[2].name != "katas" or not module_path.with_name("grader.py").exists():
        return None
    if RUN not in parent.config.stash:  # started by hand: grade the learner's files with the defaults
        launcher = new_launcher()  # before any grader is imported: see launcher.py
        parent.config.stash[RUN] = Run(Options(), launcher)
        parent.config.stash[BY_HAND] = module_path.parents[3]
    file: pytest.Collector = GraderFile.from_parent(parent, path=module_path)
    return file


def pytest_deselected(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, CheckItem):
            item.pending.leave_out(item.check)


@pytest.hookimpl(trylast=True)  # after the files are torn down
def pytest_sessionfinish(session: pytest.Session) -> None:
    stash = session.config.stash
    if RUN not in stash:
        return
    run = stash[RUN]
    run.close()
    if BY_HAND in stash and not os.environ.get("CI"):
        attempts.record_all(stash[BY_HAND], run.results, run.options.seed, "pytest")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Pytest's own summary only counts what was skipped, and a diagnosis is made once all checks were told of."""
    if RUN in terminalreporter.config.stash:
        for result in terminalreporter.config.stash[RUN].results:
            if result.todo:
                terminalreporter.write_line(f"{result.kata} is to do: write {result.source}, and its checks will run")
            if result.diagnosis:
                terminalreporter.write_line(f"{result.kata} looks like: {result.diagnosis}")


class GraderFile(pytest.File):
    """A grader.py, collected: one item for each check of each submission."""

    def collect(self) -> Iterator[pytest.Item]:
        run = self.config.stash[RUN]
        kata = kata_at(self.path)
        sources = run.submissions_of(kata)
        lines = lines_of(kata.grader_file) if BY_HAND in self.config.stash else {}
        try:
            for source in sources:
                for pending, check in run.prepare(kata, source):
                    label = f"{check.name}[{Path(source.shown).name}]" if len(sources) > 1 else check.name
                    line = line_of(check.name.split("/")[1], lines)
                    item: CheckItem = CheckItem.from_parent(self, name=label, pending=pending, check=check, line=line)
                    item.add_marker(check.category)
                    if check.core:
                        item.add_marker(CORE)
                        item.extra_keyword_matches.add(ONLY_CORE)
                    yield item
        except GraderError as error:
            if BY_HAND in self.config.stash:
                raise self.CollectError(str(error)) from error
            run.refuse(kata, error)

    def teardown(self) -> None:
        """Its checks are done: what they shared is given back."""
        self.config.stash[RUN].release(self.path.parent.name)


class CheckItem(pytest.Item):
    """One check of one submission, as pytest sees it."""

    def __init__(self, *, pending: SubmissionRun, check: Check, line: int | None, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # pytest's own arguments pass through
        self.pending = pending
        self.check = check
        self.line = line

    def runtest(self) -> None:
        why = self.pending.ask(self.check)
        if why:
            pytest.skip(why)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The sentence and the call, without our frames; a fault of the grader keeps them."""
        if isinstance(excinfo.value, CheckFailed):
            return in_words(self.pending.result.outcomes[-1])
        return str(super().repr_failure(excinfo))

    def report_of(self, outcome: Outcome, trace: str | None = None) -> pytest.TestReport:
        """The report for what became of it, where nobody has pytest run it; `trace` is of a fault of the grader."""
        words: str | tuple[str, int, str] | None = None
        if outcome.state == "skipped":
            words = (str(self.path), 0, f"Skipped: {outcome.message}")
        elif outcome.state != "pass":
            words = trace or in_words(outcome)
        return pytest.TestReport(
            self.nodeid,
            self.location,
            {},
            "passed" if words is None else "skipped" if outcome.state == "skipped" else "failed",
            words,
            "call",
            duration=outcome.seconds,
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where an editor goes on a click: to the line that names the case."""
        return self.pending.kata.grader_file, self.line, self.name


def in_words(outcome: Outcome) -> str:
    return f"{outcome.message}" + (f"\n  call  {outcome.call}" if outcome.call else "")


def lines_of(grader_file: Path) -> dict[str, int]:
    """The first line, from 0, that names a case, a budget or a test function; `{…}` stands for part of a name."""
    text = grader_file.read_text(encoding="utf-8")
    made: dict[str, int] = {}
    for pattern in (NAMED, MENTIONED):
        for found in pattern.finditer(text):
            made.setdefault(found[found.lastindex or 0], text.count("\n", 0, found.end()))
    return made


def line_of(name: str, lines: dict[str, int]) -> int | None:
    """Where the whole name stands, else the longest end of it; the grader's own line where none does."""
    patterns = {words: GAP.sub(r"\\w+", words) for words in lines}
    whole = [words for words in lines if len(GAP.sub("", words)) > 2 and re.fullmatch(patterns[words], name)]
    ends = [words for words in lines if "_" in words and name.endswith(f"_{words}")]
    found = max(whole or ends or ["GRADER"], key=lambda words: len(GAP.sub("", words)))
    return lines.get(found)

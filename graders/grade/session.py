"""One pytest run over the graders with our reporter, then the documents and the exit status."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.text import Text

from graders.catalogue import katas
from graders.desk import attempts
from graders.desk.status import after_solving
from graders.faults import INTERRUPTED, USAGE, complain
from graders.grade.parallel import TIMEOUT_SECONDS, Parallel
from graders.grade.plugin import CORE, ONLY_CORE, RUN, CheckItem
from graders.judge import results
from graders.judge.reporter import Reporter
from graders.judge.run import DEFAULT_SEED, Run

UNNEEDED = (  # of pytest's plugins
    "python", "terminal", "cacheprovider", "faulthandler", "logging", "unraisableexception", "threadexception",
    "unittest", "doctest", "debugging", "pastebin", "setuponly", "setupplan", "stepwise", "legacypath",
)  # fmt: skip


def main(options: argparse.Namespace, root: Path, parallel: Parallel) -> int:
    """The exit status."""
    asked, chosen, launcher = parallel.asked, parallel.chosen, parallel.launchers[0]
    costs = len(chosen) == 1 and len(options.submission) <= 1
    reporter = Reporter(asked.seed, costs=costs, submissions=options.submission)
    if asked.seed != DEFAULT_SEED:
        reporter.say(f"seed {asked.seed}")
    run = Run(asked, launcher, reporter)
    named = GradingPlugin(run)
    torch.set_num_threads(1)
    reporter.start()
    try:
        status = pytest.main(arguments(chosen, options, root), plugins=[named, parallel])
    finally:
        reporter.stop()
    if named.fault:
        raise named.fault
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and options.k:
        return complain(f"no check matches -k {options.k!r}")
    if status == pytest.ExitCode.USAGE_ERROR:
        return USAGE
    reporter.summary(run.results, learner=not (options.reference or options.submission))
    if launcher.isolation != "full":
        reporter.say(f"isolation: {launcher.isolation}; this system cannot isolate submissions fully, see SECURITY.md")
    if not (options.reference or options.submission or options.k or options.x or options.ci or os.environ.get("CI")):
        changed = attempts.record_all(root, run.results, asked.seed, "grade")
        if len(run.results) == 1 and changed:
            reporter.say(Text(*changed))
        if [result.state for result in run.results] == ["solved"] and (
            words := after_solving(run.results[0].kata, root)
        ):
            reporter.say(words)
    if options.json:
        found = [result.document() for result in run.results]
        results.write(options.json, results.document(found, asked.seed, asked.devices, launcher.isolation))
    if status == pytest.ExitCode.INTERRUPTED:
        return INTERRUPTED
    verdict = results.exit_status(run.results)
    return 0 if options.ci and verdict == 1 else verdict


class GradingPlugin:
    """Gives our run to the plugin, and keeps a fault of the graders for whoever tells of it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.fault: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[RUN] = self.run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """A check has nothing to set up or tear down; going through that takes longer than all comparisons."""
        if not isinstance(item, CheckItem):
            return None
        try:
            trace = item.pending.run_check(item.check)
        except pytest.fail.Exception:  # pytest-timeout's
            trace = traceback.format_exc()
        report = item.report_of(item.pending.result.outcomes[-1], trace)
        item.ihook.pytest_runtest_logreport(report=report)
        if item.parent is not None and (nextitem is None or nextitem.parent is not item.parent):
            item.parent.teardown()
        return True

    def pytest_timeout_set_timer(self, item: Any, settings: Any) -> bool | None:
        """pytest-timeout's own wants pytest's terminal; what it raises without would be held against the learner."""
        if settings.method != "signal":
            return None

        def end(*_: object) -> None:
            pytest.fail(f"the check did not end in {settings.timeout:g} s")

        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, settings.timeout)
        item.cancel_timeout = lambda: signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        self.fault = excinfo.value
        return True  # pytest need not tell of it

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            print(f"error: the grader itself failed\n{report.longrepr}", file=sys.stderr)


def from_here(folder: Path) -> str:
    """The shorter name: pytest refuses one with brackets, which the folder of a clone may have."""
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


def arguments(chosen: list[katas.Kata], options: argparse.Namespace, root: Path) -> list[str]:
    """Pytest's command line: our plugin and pytest-timeout, and nothing from a conftest.py beside a submission."""
    made = [
        *(from_here(kata.folder) for kata in chosen),
        "--rootdir",
        str(root),
        "-c",
        os.devnull,  # no settings from a file beside a submission
        "--timeout",
        str(TIMEOUT_SECONDS),
        "--noconftest",
        "-s",
        "--disable-plugin-autoload",  # plugins that other packages bring take time, and may change what is graded
        "-p",
        "pytest_timeout",
        "-p",
        "graders.grade.plugin",
    ]
    for plugin in UNNEEDED if options.junit else (*UNNEEDED, "junitxml"):
        made += ["-p", f"no:{plugin}"]
    if options.k:
        made += ["-k", re.sub(rf"\b{CORE}\b", ONLY_CORE, options.k)]
    if options.junit:
        made += ["--junitxml", str(options.junit.absolute())]
    return made

"""Grades several katas at once: forked judges take one kata after the other, and this process tells what they find."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
from multiprocessing.connection import Connection, wait
from typing import Any, cast

import pytest

from graders.processes import Launcher
from graders.results import Result
from graders.run import Run

PATIENCE_SECONDS = 10  # for judges that are told to stop


class Parallel:
    """A pytest plugin that has each grader.py's items run in one of several judges.

    Judges are forked when all is collected, so they draw the same inputs, and send pytest's reports and the results.
    """

    def __init__(self, run: Run, launchers: list[Launcher]) -> None:
        """`launchers` has one for each judge; see processes.py for why they have to be there already."""
        self.run = run
        self.launchers = launchers
        self.tell: Connection | None = None  # set in a judge
        self.config: pytest.Config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        self.config = session.config
        groups = [list(items) for _, items in itertools.groupby(session.items, key=lambda item: item.parent)]
        if min(len(groups), len(self.launchers)) < 2 or session.testsfailed:
            return None
        for launcher in self.launchers:
            assert launcher.isolation  # known to all before they part
        fork = multiprocessing.get_context("fork")
        todo = fork.SimpleQueue()
        for number in [*range(len(groups)), *([None] * len(self.launchers))]:
            todo.put(number)
        judges: dict[Any, Any] = {}
        for launcher in self.launchers:
            told, tell = fork.Pipe(duplex=False)
            judges[told] = fork.Process(target=self.judge, args=(launcher, groups, todo, tell))
            judges[told].start()
            tell.close()
        waiting = [result for result in self.run.results if not result.complete]
        try:
            while judges:
                for ready in cast(list[Connection], wait(list(judges))):
                    try:
                        self.hear(ready.recv())
                    except EOFError:
                        judges.pop(ready).join()
                    while waiting and waiting[0].complete:  # shown in order
                        self.run.watcher(waiting.pop(0))
            if waiting:
                raise RuntimeError("a judge's process ended before its time")
        finally:
            for judge in judges.values():
                judge.terminate()
            for judge in judges.values():
                judge.join(PATIENCE_SECONDS)
                judge.kill()
            for result in waiting:
                if result.complete:  # before the others were interrupted
                    self.run.watcher(result)
        return True

    def hear(self, message: Any) -> None:
        config = self.config
        if isinstance(message, dict):
            report = config.hook.pytest_report_from_serializable(config=config, data=message)
            config.hook.pytest_runtest_logreport(report=report)
            return
        index, fields = message
        result = self.run.results[index]
        outcomes = [*result.outcomes, *fields["outcomes"]]
        vars(result).update(fields | {"outcomes": outcomes})
        if not result.complete:
            self.run.watcher(result)

    def judge(self, launcher: Launcher, groups: list[list[pytest.Item]], todo: Any, tell: Connection) -> None:
        """What a judge's process does."""
        self.tell = tell
        sent = [len(result.outcomes) for result in self.run.results]

        def watch(result: Result) -> None:
            index = next(index for index, one in enumerate(self.run.results) if one is result)
            tell.send((index, vars(result) | {"outcomes": result.outcomes[sent[index] :]}))
            sent[index] = len(result.outcomes)

        self.run.watcher = watch
        self.run.move_to(launcher)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the one that shows them ends them
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            for number in iter(todo.get, None):
                items = groups[number]
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self.run.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.tell is not None:
            config = self.config
            self.tell.send(config.hook.pytest_report_to_serializable(config=config, report=report))

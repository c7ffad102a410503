"""Grades several katas at once: judges in processes of their own take one kata after the other; this one tells."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Container
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, cast

import torch

from graders.catalogue.katas import Kata
from graders.faults import GraderError
from graders.judge.run import Options, Run
from graders.sandbox.launcher import Launcher
from graders.sandbox.machine import keep_freed_memory, keep_to

if TYPE_CHECKING:  # importing it takes a while, and the judges do not need it
    import pytest

    from graders.grade.plugin import CheckItem

TIMEOUT_SECONDS = 600  # for a check, should the limits of its calls fail
PATIENCE_SECONDS = 10  # for judges that are told to stop
TELL_SECONDS = 0.1  # what was found meanwhile is told at once: each telling interrupts a judge
Selected = Container[tuple[str, str]]  # checks, by the kata's name and their own


class Parallel:
    """The judges, and a pytest plugin that reports what they find as pytest would have found it.

    They find the same, since all that they ask is made from the seed.
    """

    def __init__(self, asked: Options, chosen: list[Kata], launchers: list[Launcher]) -> None:
        """`launchers` has one for each judge; see launcher.py for why they have to be there already."""
        self.asked = asked
        self.chosen = chosen
        self.launchers = launchers
        self.judges: dict[Any, Any] = {}  # processes, by where they are heard

    def start(self, selected: Selected | None = None) -> None:
        """Best before pytest is imported, which takes a while; `selected` are the checks to ask, all by default."""
        for launcher in self.launchers:
            assert launcher.isolation  # known to all before they part
        fork = multiprocessing.get_context("fork")
        todo = fork.SimpleQueue()
        for launcher in self.launchers:
            told, tell = fork.Pipe(duplex=False)
            heard = [*self.judges, told]
            work = (launcher, self.asked, self.chosen, selected, todo, tell, heard)
            self.judges[told] = fork.Process(target=judge, args=work, daemon=True)
            self.judges[told].start()
            tell.close()
        for number in [*range(len(self.chosen)), *([None] * len(self.launchers))]:
            todo.put(number)

    def stop(self) -> None:
        for process in self.judges.values():
            process.terminate()
        for process in self.judges.values():
            process.join(PATIENCE_SECONDS)
            process.kill()
        self.judges.clear()

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        items = {(item.pending.kata.id, item.check.name): item for item in cast("list[CheckItem]", session.items)}
        if session.testsfailed:
            return None
        if not self.judges:
            if min(len(self.launchers), len({kata for kata, _ in items})) < 2:
                return None
            self.start(items)
        from graders.grade.plugin import RUN

        run = session.config.stash[RUN]
        waiting = [result for result in run.results if not result.complete]
        try:
            while self.judges:
                heard = cast(list[Connection], wait(list(self.judges), TIMEOUT_SECONDS))
                if not heard:
                    raise RuntimeError(f"the judges have found nothing for {TIMEOUT_SECONDS} s")
                for ready in heard:
                    try:
                        hear(run, ready.recv(), items)
                    except EOFError:
                        self.judges.pop(ready).join()
                    while waiting and waiting[0].complete:  # shown in order
                        run.watcher(waiting.pop(0))
            if waiting:
                raise RuntimeError("a judge's process ended before its time")
        finally:
            for result in waiting:
                if result.complete:  # before the others were interrupted
                    run.watcher(result)
        return True

    def pytest_sessionfinish(self) -> None:
        self.stop()


def hear(run: Run, message: Any, items: dict[tuple[str, str], CheckItem]) -> None:
    """Reports what a judge found as if it had been found here."""
    fields, traces = message
    result = next(result for result in run.results if result.kata == fields["kata"])
    for outcome in fields["outcomes"]:
        item = items[result.kata, outcome.name]
        report = item.report_of(outcome, traces[outcome.name])
        item.ihook.pytest_runtest_logreport(report=report)
    vars(result).update(fields | {"outcomes": [*result.outcomes, *fields["outcomes"]]})
    if not result.complete:
        run.watcher(result)


def judge(
    launcher: Launcher,
    asked: Options,
    chosen: list[Kata],
    selected: Selected | None,
    todo: Any,
    tell: Connection,
    heard: list[Connection],
) -> None:
    """What a judge's process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the one that shows them ends them
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for connection in heard:  # else nobody would notice when the other end is gone
        connection.close()
    keep_to(launcher.processor)
    keep_freed_memory()
    torch.set_num_threads(1)
    run = Run(asked, launcher)
    try:
        for number in iter(todo.get, None):
            judge_kata(run, chosen[number], selected, tell)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run.close()


def judge_kata(run: Run, kata: Kata, selected: Selected | None, tell: Connection) -> None:
    """Judges the one submission of a kata, and sends what it found every now and then."""
    try:
        planned = [one for source in run.submissions_of(kata) for one in run.prepare(kata, source)]
    except GraderError:
        return  # the one that tells finds the same
    if selected is not None:
        for pending, check in planned:
            if (kata.id, check.name) not in selected:
                pending.leave_out(check)
        planned = [(pending, check) for pending, check in planned if (kata.id, check.name) in selected]
    result = run.results[-1]
    told, due, traces = len(result.outcomes), 0.0, {}
    for pending, check in planned:
        traces[check.name] = pending.run_check(check)
        if result.complete or time.monotonic() > due:
            tell.send((vars(result) | {"outcomes": result.outcomes[told:]}, traces))
            told, due, traces = len(result.outcomes), time.monotonic() + TELL_SECONDS, {}
    run.release(kata.id)

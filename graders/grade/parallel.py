"""Judges in processes of their own take one kata after the other; this one tells what they find."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from graders.catalogue.katas import Kata
from graders.faults import GraderError
from graders.judge import process
from graders.judge.process import Found, Job
from graders.judge.run import Options, Run
from graders.sandbox.launcher import Launcher

if TYPE_CHECKING:  # importing it takes a while, and the judges do not need it
    import pytest

    from graders.grade.plugin import CheckItem

TIMEOUT_SECONDS = 600  # for a check, should the limits of its calls fail
PATIENCE_SECONDS = 10  # for judges that are told to stop


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

    def start(self, selected: Iterable[tuple[str, str]] | None = None) -> None:
        """Best before pytest is imported, which takes a while; `selected` are the checks to ask, by kata and name."""
        names = {kata.id: None if selected is None else frozenset[str]() for kata in self.chosen}
        for kata, name in selected or ():
            names[kata] = (names[kata] or frozenset()) | {name}
        source = self.asked.submissions[0] if self.asked.submissions else None
        jobs = [Job(kata, self.asked, source, own) for kata, own in names.items() if own != frozenset()]
        fork = multiprocessing.get_context("fork")
        todo = fork.SimpleQueue()
        for launcher in self.launchers:
            told, tell = fork.Pipe(duplex=False)
            work = (launcher, self.chosen[0].root, jobs, todo, tell, [*self.judges, told])
            self.judges[told] = fork.Process(target=judge, args=work, daemon=True)
            self.judges[told].start()
            tell.close()
        for number in [*range(len(jobs)), *([None] * len(self.launchers))]:
            todo.put(number)

    def stop(self) -> None:
        for one in self.judges.values():
            one.terminate()
        for one in self.judges.values():
            one.join(PATIENCE_SECONDS)
            one.kill()
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


def hear(run: Run, found: Found | GraderError, items: dict[tuple[str, str], CheckItem]) -> None:
    """Reports what a judge found as if it had been found here."""
    if isinstance(found, GraderError):
        return  # it was found here as well
    result = next(result for result in run.results if result.kata == found.result.kata)
    outcomes = [one for one in found.result.outcomes if (result.kata, one.name) in items]  # the others are left out
    for outcome in outcomes:
        item = items[result.kata, outcome.name]
        report = item.report_of(outcome, found.traces.get(outcome.name))
        item.ihook.pytest_runtest_logreport(report=report)
    known = {"outcomes": [*result.outcomes, *outcomes], "source_text": result.source_text}
    vars(result).update(vars(found.result) | known)
    if not result.complete:
        run.watcher(result)


def judge(
    launcher: Launcher, root: Path, jobs: list[Job], todo: Any, tell: Connection, heard: list[Connection]
) -> None:
    """What a judge's process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the one that shows them ends them
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for connection in heard:  # else nobody would notice when the other end is gone
        connection.close()
    try:
        process.serve((jobs[number] for number in iter(todo.get, None)), tell.send, root, launcher)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        launcher.close()

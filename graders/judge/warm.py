"""A judge that stays: what it takes to judge a kata once more is kept warm between two of its learner's saves."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import replace

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.judge.results import Result
from graders.judge.run import DEFAULT_SEED, Options, Run, Shared
from graders.sandbox.cage import Isolation
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.submission import Submission


class Interrupted(KeyboardInterrupt):
    """The verdict under way is not wanted any more. As with Ctrl-C, nobody on the way takes it for a verdict."""


class WarmJudge:
    """Judges one file after the other in this process, on the CPU. Make its launcher before any grader is imported."""

    def __init__(self, launcher: Launcher, seed: int = DEFAULT_SEED, home: Home | None = None) -> None:
        """`home` is where references live that are somebody else's as well, who closes it."""
        self.launcher = Interruptible(launcher)
        self.seed = seed
        self.own_home = home is None
        self.shared = Shared(home=home or Home())
        self.judged: Submission | None = None

    def grade(
        self,
        kata: Kata,
        source: Source,
        watcher: Callable[[Result], None] = lambda result: None,
        only: str = "",
        diagnosed: bool = True,
        brief: bool = False,
    ) -> Result:
        """`watcher` is called after each check; `only` is a category, whose checks are asked up to the first failure.

        Raises: GraderError where the kata's grader cannot grade; Interrupted.
        """
        asked = Options(seed=self.seed, first_failure=bool(only), diagnosed=diagnosed, brief=brief)
        return [*self.each_check(kata, source, asked, watcher, only)][-1][0]

    def each_check(
        self,
        kata: Kata,
        source: Source,
        asked: Options,
        watcher: Callable[[Result], None] = lambda result: None,
        only: str = "",
        selected: Container[str] | None = None,
    ) -> Iterator[tuple[Result, str, str | None]]:
        """After each check: the result so far, the check's name, and the traceback of a fault of the grader.

        What is not `selected` by name, where any is, or in the category `only`, is left out. Raises: as above.
        """
        run = Run(replace(asked, submissions=[source]), self.launcher, watcher, self.shared)
        self.launcher.judging = True
        try:
            wanted = []
            for pending, check in [*run.prepare(kata, source)]:
                if only in ("", check.category) and (selected is None or check.name in selected):
                    wanted.append((pending, check))
                else:
                    pending.leave_out(check)
            for pending, check in wanted:
                if self.launcher.interrupted:
                    raise Interrupted
                self.judged = pending.trial.submission
                trace = pending.run_check(check)
                yield run.results[0], check.name, trace
        finally:
            self.launcher.judging = False
            self.judged = None
            for pending in run.pending.values():
                pending.trial.submission.close()
            for name, diagnosis in self.shared.diagnoses.items():
                diagnosis.close(but_home=name == kata.id)

    @property
    def call(self) -> tuple[str, float]:
        """What of the file that is judged is waited for, in words, and for how many seconds so far."""
        judged = self.judged
        if not judged or not judged.calling:
            return "", 0.0
        request, since = judged.calling
        return request.text if request else f"importing {judged.source.shown}", time.monotonic() - since

    def interrupt(self) -> None:
        """Ends the verdict under way, and every later one until `go_on`. For other threads."""
        self.launcher.interrupt()

    @property
    def interrupted(self) -> bool:
        return self.launcher.interrupted

    def go_on(self) -> None:
        if self.interrupted:
            self.close()  # one that was kept may have been ended
        self.launcher.interrupted = False

    def close(self) -> None:
        """The launcher stays: it belongs to whoever made it."""
        for vectors in self.shared.vectors.values():
            for one in vectors:
                one.forget()
        for reference in self.shared.references.values():
            reference.replies.clear()  # the home may go on
        if self.own_home:
            self.shared.home.close()
        for diagnosis in self.shared.diagnoses.values():
            diagnosis.close()


class Interruptible:
    """A launcher whose workers another thread can end; a verdict that still needs one of them is Interrupted."""

    processor = None
    cuda = False

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self.lock = threading.Lock()
        self.running: set[int] = set()
        self.judging = False  # not clearing up
        self.interrupted = False

    @property
    def isolation(self) -> Isolation:
        return self.launcher.isolation

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int:
        with self.lock:
            if self.interrupted:
                raise Interrupted
            pid = self.launcher.start(connection, telling, scratch)
            self.running.add(pid)
            return pid

    def stop(self, pid: int) -> str:
        with self.lock:
            if pid in self.running:
                self.running.remove(pid)
                return self.launcher.stop(pid)
        if self.judging:
            raise Interrupted
        return "was interrupted"

    def interrupt(self) -> None:
        with self.lock:
            self.interrupted = True
            while self.running:
                self.launcher.stop(self.running.pop())

    def close(self) -> None:
        self.launcher.close()

"""The Dask plugin that keeps a warm judge on each worker, and the task that asks it; see child.py for its process.

Several classes may be on one scheduler: a run's plugins and tasks have its own name, and go when its client does.
"""

from __future__ import annotations

import pickle
import random
import secrets
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distributed import Scheduler, SchedulerPlugin, Worker, WorkerPlugin, get_worker

from graders.catalogue.source import Source
from graders.cohort.ledger import Terms, version
from graders.faults import ROOT, GraderError
from graders.judge.process import Found, Job
from graders.judge.results import Result
from graders.judge.run import Options
from graders.sandbox.cage import Isolation
from graders.sandbox.machine import processors

MOST_DEATHS = 3
SECONDS = 900  # for one answer, should all other limits fail
CHILD = "import sys; from graders.cohort import child; child.serve(*sys.argv[1:])"
UNFIT = "a judge cannot work on {}: {}"


class JudgeEnded(Exception):
    """Time and again, by the same answer."""


@dataclass(frozen=True)
class Verdict:
    """What a judge says, the seconds that it took, and the judge's own terms."""

    result: Result
    seconds: float
    terms: Terms


class Judging(WorkerPlugin):
    """Starts the judge of a worker, and ends it with the worker or the run."""

    def __init__(self, root: Path, isolation: Isolation) -> None:
        self.name = f"judge-{secrets.token_hex(8)}"  # of one run
        self.root = None if root == ROOT else root  # each machine has a copy of this repository where it likes
        self.terms = Terms(0, isolation, version(root))
        self.order = random.getrandbits(32)  # of processors: another class's judges may be at work as well

    def setup(self, worker: Worker) -> None:
        """Raises: RuntimeError where answers cannot be judged here as they are where the command runs."""
        if isinstance(worker.name, int):  # of this machine's own cluster: Ctrl-C ends the command, and that the rest
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.judge = Judge(self.root or ROOT, self.processor_for(worker))
        except (EOFError, OSError):
            why = "its process ended as it began; make room in the machine's memory, or take fewer workers"
            raise RuntimeError(UNFIT.format(worker.address, why)) from None
        if not self.terms.met_by(self.judge.terms):
            self.judge.close()
            other = "its torch or its copy of this repository is another one"
            low = f"isolation is {self.judge.terms.isolation!r} there, not {self.terms.isolation!r}"
            same = self.judge.terms.graders == self.terms.graders
            raise RuntimeError(UNFIT.format(worker.address, low if same else other))

    def processor_for(self, worker: Worker) -> int | None:
        """That its judge keeps to, see launcher.py, where the cluster is of one machine, whose workers are counted."""
        free = random.Random(self.order).sample(processors(), len(processors()))
        return free[worker.name] if isinstance(worker.name, int) and worker.name < len(free) else None

    def teardown(self, worker: Worker) -> None:
        if hasattr(self, "judge"):
            self.judge.close()


class Belonging(SchedulerPlugin):
    """What the scheduler does for one run: it ends what the run left when the client is gone, be it by a kill.

    Tasks of a worker that is gone may go to any: where no other is there, Dask has them wait for that one.
    """

    def __init__(self, judging: str, client: str) -> None:
        self.name = f"{judging}-belonging"
        self.judging = judging
        self.client = client

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        for key, task in scheduler.tasks.items():
            if worker in (task.worker_restrictions or ()) and str(key).startswith(self.judging):
                task.worker_restrictions = None

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        if client == self.client:
            scheduler.remove_plugin(self.name)
            if self.judging in scheduler.worker_plugins:
                scheduler.loop.add_callback(scheduler.unregister_worker_plugin, None, self.judging)


class Judge:
    """The end of it that asks."""

    def __init__(self, root: Path, processor: int | None = None) -> None:
        kept = [] if processor is None else [str(processor)]
        self.command = [sys.executable, "-c", CHILD, str(root), *kept]
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        """Raises: EOFError where it ends at once; OSError where it cannot be started."""
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        try:
            self.terms = Terms(0, *self.reply())
        except EOFError:
            self.close()
            raise

    def reply(self) -> Any:
        """Raises: EOFError where the process has ended."""
        assert self.process.stdout
        try:
            return pickle.load(self.process.stdout)
        except pickle.UnpicklingError as broken_off:
            raise EOFError from broken_off

    def grade(self, kata: str, source: Source, seed: int) -> Verdict:
        """Raises: JudgeEnded; RuntimeError where the grader is at fault."""
        with self.lock:
            for _ in range(MOST_DEATHS):
                try:
                    found = self.ask(Job(kata, Options(seed=seed), source, whole=True))
                except (EOFError, OSError):
                    self.close()
                    continue
                if isinstance(found, GraderError):
                    raise RuntimeError(str(found))
                return Verdict(found.result, found.seconds, replace(self.terms, seed=seed))
        raise JudgeEnded(f"the judge's process ended {MOST_DEATHS} times at this answer")

    def ask(self, job: Job) -> Found | GraderError:
        """Of a new process where the last one has ended. Raises: EOFError or OSError where this one ends as well."""
        if self.process.poll() is not None:
            self.start()
        late = threading.Timer(SECONDS, self.process.kill)
        late.start()
        try:
            assert self.process.stdin
            pickle.dump(job, self.process.stdin)
            self.process.stdin.flush()
            found: Found | GraderError = self.reply()
            return found
        finally:
            late.cancel()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def grade(judging: str, kata: str, source: Source, seed: int) -> Verdict:
    """A task of Dask's: judges one answer on whichever worker it comes to. Raises: as Judge.grade does."""
    own: Judge | None = getattr(get_worker().plugins.get(judging), "judge", None)  # none where it did not start
    if not own:
        raise JudgeEnded("the worker has no judge of this run")
    return own.grade(kata, source, seed)

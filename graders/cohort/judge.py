"""The Dask plugin that keeps a warm judge on each worker, and the task that asks it; see child.py for its process."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from distributed import Scheduler, SchedulerPlugin, Worker, WorkerPlugin, get_worker

from graders.catalogue.source import Source
from graders.cohort.ledger import version
from graders.faults import ROOT
from graders.sandbox.launcher import processors

NAME = "judge"
MOST_DEATHS = 3
SECONDS = 900  # for one answer, should all other limits fail
CHILD = "import sys; from graders.cohort import child; child.serve(*sys.argv[1:])"
UNFIT = "a judge cannot work on {}: {}"


class JudgeEnded(Exception):
    """Time and again, by the same answer."""


class Judging(WorkerPlugin):
    """Starts the judge of a worker, and ends it with the worker."""

    name = NAME

    def __init__(self, root: Path, seed: int, isolation: str) -> None:
        self.root = None if root == ROOT else root  # each machine has a copy of this repository where it likes
        self.seed = seed
        self.isolation = isolation
        self.version = version(root)
        self.order = random.getrandbits(32)  # of processors: another class's judges may be at work as well

    def setup(self, worker: Worker) -> None:
        """Raises: RuntimeError where answers cannot be judged here as they are where the command runs."""
        if isinstance(worker.name, int):  # of this machine's own cluster: Ctrl-C ends the command, and that the rest
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if version(self.root or ROOT) != self.version:
            raise RuntimeError(UNFIT.format(worker.address, "its torch or its copy of this repository is another one"))
        self.judge = Judge(self.root or ROOT, self.seed, self.processor_for(worker))
        if self.isolation == "strict" and self.judge.isolation != "full":
            self.judge.close()
            raise RuntimeError(UNFIT.format(worker.address, f"isolation is {self.judge.isolation!r} there, not 'full'"))

    def processor_for(self, worker: Worker) -> int | None:
        """That its judge keeps to, see launcher.py, where the cluster is of one machine, whose workers are counted."""
        free = random.Random(self.order).sample(processors(), len(processors()))
        return free[worker.name] if isinstance(worker.name, int) and worker.name < len(free) else None

    def teardown(self, worker: Worker) -> None:
        if hasattr(self, "judge"):
            self.judge.close()


class Loosened(SchedulerPlugin):
    """Lets the tasks of a worker that is gone go to any: where no other is there, Dask has them wait for that one."""

    name = "loosened"

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        for task in scheduler.tasks.values():
            if worker in (task.worker_restrictions or ()):
                task.worker_restrictions = None


class Judge:
    """The end of it that asks."""

    def __init__(self, root: Path, seed: int, processor: int | None = None) -> None:
        kept = [] if processor is None else [str(processor)]
        self.command = [sys.executable, "-c", CHILD, str(root), str(seed), *kept]
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self.isolation = self.reply()["isolation"]

    def reply(self) -> dict[str, Any]:
        """Raises: EOFError where the process has ended."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        reply: dict[str, Any] = json.loads(line)
        return reply

    def grade(self, kata: str, source: Source) -> tuple[dict[str, Any], float]:
        """The result as a document, and the seconds that it took.

        Raises: JudgeEnded; RuntimeError where the grader is at fault.
        """
        asked = {"kata": kata, "source": asdict(source)}
        with self.lock:
            for _ in range(MOST_DEATHS):
                late = threading.Timer(SECONDS, self.process.kill)
                late.start()
                try:
                    assert self.process.stdin
                    self.process.stdin.write(json.dumps(asked).encode() + b"\n")
                    self.process.stdin.flush()
                    reply = self.reply()
                except (EOFError, OSError):
                    self.close()
                    self.start()
                    continue
                finally:
                    late.cancel()
                if "fault" in reply:
                    raise RuntimeError(reply["fault"])
                return reply["document"], reply["seconds"]
        raise JudgeEnded(f"the judge's process ended {MOST_DEATHS} times at this answer")

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def grade(kata: str, source: Source) -> tuple[dict[str, Any], float]:
    """A task of Dask's: judges one answer on whichever worker it comes to."""
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, Judging)
    return plugin.judge.grade(kata, source)

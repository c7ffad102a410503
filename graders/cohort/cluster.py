"""Judging on Dask: which worker gets which answer, and what becomes of it where machines are lost."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from typing import Any

import dask
from dask.system import CPU_COUNT
from distributed import CancelledError, Client, LocalCluster, as_completed
from distributed.comm.core import connect
from distributed.scheduler import KilledWorker
from distributed.system import MEMORY_LIMIT
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.cohort import judge
from graders.cohort.ledger import Ledger, Terms
from graders.faults import GraderError, UsageError
from graders.judge.results import Result

AHEAD = 4  # tasks of each worker that wait there: enough that none is idle
MEMORY = 2 << 30  # bytes for a worker: it takes 1 to 1.5 GB as a rule, 4 while an answer fills its process
ANSWERING = 20  # seconds for a scheduler that was named
PATIENCE = 120  # seconds for a worker of this machine to begin again, which takes 2 to 20 as a rule
LOOK = 2.0  # seconds without an answer, after which it is looked whether there are workers
LOST = 10  # workers under a task, which then is given up; one may lose some by other tasks' doing
CONFIG = {
    "distributed.scheduler.allowed-failures": LOST,
    "distributed.worker.daemon": False,  # the judge is a process below it
    "distributed.logging.distributed": "critical",
    "distributed.admin.tick.limit": "1h",
    # What Dask measures of itself: a class that took 68 s takes 63 without.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}


class NotGraded(Exception):
    """The machines failed, not the answer."""


@dataclass(frozen=True)
class Job:
    """An answer to be judged, once for all learners who gave the same."""

    key: str
    kata: Kata
    source: Source
    program: str
    seed: int


def judge_all(
    jobs: list[Job], ledger: Ledger, judging: judge.Judging, options: argparse.Namespace, console: Console
) -> dict[str, dict[str, Any]]:
    """What was not graded, by its key: machines were lost, so it is no verdict and the next run tries again.

    Raises: UsageError where no worker can judge; GraderError.
    """
    lost: dict[str, dict[str, Any]] = {}
    with dask.config.set(CONFIG), cluster(options) as client, progress(len(jobs), console) as advance:
        try:
            client.register_plugin(judge.Belonging(judging.name, client.id))
            client.register_plugin(judging)
        except RuntimeError as error:
            advice = f"; see SECURITY.md{', or add --isolation limits' * (judging.terms.isolation == 'full')}"
            advice = advice if "isolation" in str(error) else ""
            raise UsageError(f"{error}{advice}") from None
        if not client.nthreads():
            console.print("no worker is there yet; judging begins when one comes")
        waiting = by_kata(jobs)
        running: dict[Any, tuple[Job, str]] = {}
        busy: Counter[str] = Counter()  # tasks of each worker
        own: dict[str, str] = {}  # the kata of each worker
        done = as_completed(loop=client.loop)

        def send() -> None:
            for worker in client.nthreads():
                while waiting and busy[worker] < AHEAD:
                    if own.get(worker) not in waiting:
                        own[worker] = next((kata for kata in waiting if kata not in own.values()), longest(waiting))
                    job = waiting[own[worker]].popleft()
                    if not waiting[own[worker]]:
                        del waiting[own[worker]]
                    task = (judging.name, job.kata.id, job.source, job.seed)
                    name = f"{judging.name}/{job.key}"
                    future = client.submit(
                        judge.grade, *task, key=name, pure=False, workers=[worker], allow_other_workers=True
                    )
                    running[future] = job, worker
                    busy[worker] += 1
                    done.add(future)

        while waiting:
            wait_for_a_worker(client, options)
            send()
            for future in as_they_end(done, lambda: wait_for_a_worker(client, options)):
                job, worker = running.pop(future)
                busy[worker] -= 1
                try:
                    ledger.add(job.key, job.program, *verdict(future, replace(judging.terms, seed=job.seed)))
                except NotGraded as trouble:
                    lost[job.key] = ungraded(job.kata, str(trouble))
                advance()
                send()
    return lost


def wait_for_a_worker(client: Client, options: argparse.Namespace) -> None:
    """One of a cluster may take as long as it likes. Raises: UsageError where none of this machine's can begin."""
    try:
        client.wait_for_workers(1, timeout=None if options.scheduler else PATIENCE)
    except TimeoutError:
        raise UsageError(
            f"the workers of this machine ended, and none could be started again for {PATIENCE} seconds; "
            "what was judged is kept: make room in its memory, then run the same again"
        ) from None


def as_they_end(done: as_completed, while_idle: Callable[[], None]) -> Iterator[Any]:
    """The futures, as Dask's own iterator has them, which would wait for ever for workers that are gone."""
    while not done.is_empty():
        with done.thread_condition:  # so that none ends unnoticed between the look and the wait
            if not done.has_ready():
                done.thread_condition.wait(timeout=LOOK)
        if done.has_ready():
            yield next(done)
        else:
            while_idle()


def by_kata(jobs: list[Job]) -> dict[str, deque[Job]]:
    """A judge that stays with a kata knows what its known mistakes answer: so each worker has one of its own."""
    found: dict[str, deque[Job]] = {}
    for job in jobs:
        found.setdefault(job.kata.id, deque()).append(job)
    return found


def longest(waiting: dict[str, deque[Job]]) -> str:
    return max(waiting, key=lambda kata: len(waiting[kata]))


def verdict(future: Any, terms: Terms) -> tuple[dict[str, Any], float]:
    """The result as a document that has its seed, and the seconds that it took.

    Raises: NotGraded; GraderError where the grader is at fault.
    """
    try:
        found: judge.Verdict = future.result()
    except KilledWorker:
        raise NotGraded(f"not graded: {LOST} workers were lost while they judged this") from None
    except judge.JudgeEnded as ended:
        raise NotGraded(f"not graded: {ended}") from None
    except RuntimeError as error:
        raise GraderError(str(error)) from None
    if not terms.met_by(found.terms):
        raise NotGraded(f"not graded: its judge had {found.terms}, and should have had {terms}")
    return found.result.document() | {"seed": found.terms.seed}, found.seconds


def ungraded(kata: Kata, why: str) -> dict[str, Any]:
    """What stands in the place of a verdict."""
    return Result(kata.id, kata.topic, f"{kata.id}.py", message=why, error=True).document() | {"ungraded": True}


@contextlib.contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Client]:
    """The one whose scheduler was named, or one of this machine. Raises: UsageError."""
    if options.scheduler:
        try:
            asyncio.run(greet(options.scheduler))
            client = Client(options.scheduler, timeout=ANSWERING, set_as_default=False)
        except (OSError, ValueError, TypeError, MemoryError) as error:  # Dask takes what it reads for lengths
            why = "it is none, or too busy" if isinstance(error, MemoryError | TimeoutError) else error
            raise UsageError(f"no Dask scheduler answers at {options.scheduler} ({why}); check the address") from None
        with explained_loss(options.scheduler), client:
            yield client
        return
    count = options.workers or min(CPU_COUNT, MEMORY_LIMIT // MEMORY) or 1
    with explained_loss("this machine"), contextlib.ExitStack() as stack:
        try:
            with interrupts_waiting():
                local = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(local)
        except (RuntimeError, OSError, TimeoutError) as error:
            raise UsageError(f"no {count} workers can be started here ({error}); name fewer with --workers") from None
        yield stack.enter_context(Client(local, set_as_default=False))


async def greet(address: str) -> None:
    """Dask's own client would wait for ever for a reply. Raises: as Dask does where no scheduler answers."""
    greeting = await asyncio.wait_for(connect(address, timeout=ANSWERING), 2 * ANSWERING)
    await greeting.close()


@contextlib.contextmanager
def interrupts_waiting() -> Iterator[None]:
    """Ctrl-C waits for the end of this, and never comes to the threads and processes that begin here."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # later, it would let them have it again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def explained_loss(where: str) -> Iterator[None]:
    """Raises: UsageError where the scheduler is gone."""
    logging.disable(logging.ERROR)  # what Dask logs of a lost connection is told in a sentence
    try:
        yield
    except (CancelledError, OSError, TimeoutError) as error:
        why = f"the scheduler of {where} is gone ({type(error).__name__}); what was judged is kept"
        raise UsageError(f"{why}: start it, then run the same again") from None
    finally:
        logging.disable(logging.NOTSET)


@contextlib.contextmanager
def progress(count: int, console: Console) -> Iterator[Any]:
    """On a terminal a bar with an estimate; elsewhere a line for each tenth."""
    if console.is_terminal:
        columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=count)
            yield lambda: bar.advance(task)
        return
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if done * 10 // count > (done - 1) * 10 // count:
            console.print(f"{done} of {count} judged")

    yield advance

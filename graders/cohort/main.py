"""`cohort`: reads the answers, has those judged that were not judged yet, and writes what came of it."""

from __future__ import annotations

import argparse
import contextlib
import logging
import secrets
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, as_completed
from distributed.scheduler import KilledWorker
from distributed.system import MEMORY_LIMIT
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from graders import files
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.cohort import gradebook, judge, pages
from graders.cohort.classes import all_learners, left_out
from graders.cohort.grades import Graded
from graders.cohort.learners import Learner, name_files
from graders.cohort.ledger import Ledger, Terms, engine_digest, key_of, short_version
from graders.faults import INTERRUPTED, GraderError, UsageError
from graders.judge import card
from graders.judge.results import Result

AHEAD = 4  # tasks of each worker that wait there: enough that none is idle
MEMORY = 2 << 30  # bytes for a worker: it takes 1 to 1.5 GB as a rule, 4 while an answer fills its process
MOST_NAMES = 10  # on the console
LOST = 10  # workers under a task, which then is given up; one may lose some by other tasks' doing
NOT_GRADED = "answers not graded, since machines were lost: run the same again, and look at them yourself if they stay"
PROMISED = {"strict": "full", "limits": "limits"}  # isolation; it may have been better
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


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 0 where every answer has its verdict; 1 where something could not be read or graded; 130 where it
    was interrupted, after what was judged.
    """
    chosen, by_name = katas.find(options.kata, root), {kata.id: kata for kata in katas.all_katas(root)}
    files.make_room(options.out / "grades.csv", "name another folder with --out")
    console = card.console()
    book = gradebook.read(options.gradebook) if options.gradebook else gradebook.Gradebook([], {})
    learners = gradebook.joined(read(options, options.learners, by_name), book)
    name_files(learners)
    earlier = [one for folder in options.earlier for one in read(options, folder, by_name)]
    ledger = Ledger(options.out / "results.sqlite")
    try:
        seed, engine = secrets.randbelow(1 << 31) if options.seed is None else options.seed, engine_digest()
        keys = {
            (learner.slug, name): key_of(by_name[name], answer, engine, options.seed, options.isolation)
            for learner in learners
            for name, answer in learner.answers.items()
        }
        jobs = todo(learners, keys, ledger, chosen)
        console.print(
            f"{len(learners)} learner{'s' * (len(learners) != 1)}, {len(keys)} answers; "
            f"{len(set(keys.values()))} differ, {len(jobs)} of them are to be judged; seed {seed}"
        )
        lost: dict[str, dict[str, Any]] = {}
        promised = PROMISED[options.isolation]
        if jobs:
            lost = judge_all(jobs, ledger, judge.Judging(root, promised), seed, options, console)
        found = {pair: told for pair, key in keys.items() if (told := ledger.find(key) or lost.get(key))}
        columns = [kata for kata in by_name.values() if kata in chosen or any(name == kata.id for _, name in found)]
        documents = {learner.slug: of_learner(learner, columns, found) for learner in learners}
        graded = Graded(learners, columns, documents, seed, promised, options.late, short_version(root), book, root)
        pages.write_all(options.out, graded, options.export, options.json, earlier)
        console.print(f"wrote {options.out / 'index.html'}, grades.csv, learners/ and feedback/ beside it")
        return tell(console, options, learners, len(lost))
    except KeyboardInterrupt:
        console.print("stopped; what was judged is kept: run the same again, and it goes on")
        return INTERRUPTED
    finally:
        ledger.close()


def read(options: argparse.Namespace, source: Path, by_name: dict[str, Kata]) -> list[Learner]:
    """Raises: UsageError."""
    clones = options.out / "clones"
    return all_learners(source, list(by_name.values()), clones, options.until, options.late is not None)


def of_learner(
    learner: Learner, columns: list[Kata], found: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A learner's results in the order of the katas, with the learner's own paths."""
    return [
        found[learner.slug, kata.id] | {"source": learner.answers[kata.id].shown}
        for kata in columns
        if (learner.slug, kata.id) in found
    ]


def tell(console: Console, options: argparse.Namespace, learners: list[Learner], lost: int) -> int:
    """Says what an instructor has to look at. Returns the exit status."""
    unread = [learner.name for learner in learners if learner.unread]
    hidden, late = left_out(options.learners), sum(bool(learner.late) for learner in learners)
    shown = f"{', '.join(unread[:MOST_NAMES])}{', …' * (len(unread) > MOST_NAMES)}"
    for count, what in (
        (len(unread), f"learners not read, or not wholly: see the notes of {shown}"),
        (lost, NOT_GRADED),
        (len(hidden), f"left out, since their names begin with a dot: {', '.join(hidden)}"),
        (late, "learners with late answers; committers' clocks, by which this is known, can be set at will"),
    ):
        if count:
            console.print(f"{count} {what}", markup=False, highlight=False, soft_wrap=True)
    return int(bool(unread or lost))


def todo(learners: list[Learner], keys: dict[tuple[str, str], str], ledger: Ledger, chosen: list[Kata]) -> list[Job]:
    """What has no verdict yet, the katas that took longest first."""
    jobs: dict[str, Job] = {}
    by_name = {kata.id: kata for kata in chosen}
    for learner in learners:
        for name, answer in learner.answers.items():
            key = keys[learner.slug, name]
            if name in by_name and key not in jobs and ledger.find(key) is None:
                jobs[key] = Job(key, by_name[name], replace(answer, shown=f"{name}.py"))
    took = ledger.seconds()
    return sorted(jobs.values(), key=lambda job: (-took.get(job.kata.id, 0.0), job.kata.id))


def judge_all(
    jobs: list[Job], ledger: Ledger, judging: judge.Judging, seed: int, options: argparse.Namespace, console: Console
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
            advice = "; see SECURITY.md, or add --isolation limits" if "isolation" in str(error) else ""
            raise UsageError(f"{error}{advice}") from None
        if not client.nthreads():
            console.print("no worker is there yet; judging begins when one comes")
        waiting, terms = by_kata(jobs), replace(judging.terms, seed=seed)
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
                    task = (judging.name, job.kata.id, job.source, seed)
                    name = f"{judging.name}/{job.key}"
                    future = client.submit(
                        judge.grade, *task, key=name, pure=False, workers=[worker], allow_other_workers=True
                    )
                    running[future] = job, worker
                    busy[worker] += 1
                    done.add(future)

        while waiting:
            client.wait_for_workers(1)
            send()
            for future in done:
                job, worker = running.pop(future)
                busy[worker] -= 1
                try:
                    ledger.add(job.key, *verdict(future, terms))
                except NotGraded as trouble:
                    lost[job.key] = ungraded(job.kata, str(trouble))
                advance()
                send()
    return lost


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
    return found.document | {"seed": found.terms.seed}, found.seconds


def ungraded(kata: Kata, why: str) -> dict[str, Any]:
    """What stands in the place of a verdict."""
    return Result(kata.id, kata.topic, f"{kata.id}.py", message=why, error=True).document() | {"ungraded": True}


@contextlib.contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Client]:
    """The one whose scheduler was named, or one of this machine. Raises: UsageError."""
    if options.scheduler:
        try:
            client = Client(options.scheduler, timeout="20s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {options.scheduler} ({error}); check the address") from None
        with client:
            yield client
        return
    count = options.workers or min(CPU_COUNT, MEMORY_LIMIT // MEMORY) or 1
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


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

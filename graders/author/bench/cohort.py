"""`bench -- cohort`: what it costs to judge a class, and whether it matters that workers are killed meanwhile."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from distributed import Worker
from rich.console import Console

from graders.arguments import command_line
from graders.author.bench.speed import IMPORT_TORCH, family, measure, memory
from graders.catalogue import katas
from graders.catalogue.source import Source
from graders.cohort import cluster
from graders.cohort.judge import Judging, Verdict
from graders.cohort.ledger import Ledger
from graders.faults import UsageError
from graders.judge import card

KINDS = {"references": 0.25, "alternatives": 0.25, "mistakes": 0.5}  # what learners hand in, but for HOSTILE
HOSTILE = 0.02
SEED = 1
WORKERS = 2
KILL_EVERY = 60.0  # seconds
LOOK_EVERY = 1.0
WEIGH_EVERY = 10.0  # to add up the pages of ten processes takes 0.2 s
IMPORTS = 5
EMPTY_TASKS = 1000


@dataclass
class Course:
    """How a run of `cohort` went.

    Args:
        verdicts: by the key of each answer; what is measured is left out.
        seconds: of each answer.
        samples: the clock, and verdicts so far.
        memory: verdicts so far, and the bytes of all processes, from time to time.
    """

    verdicts: dict[str, Any]
    seconds: list[float]
    samples: list[tuple[float, int]]
    memory: list[tuple[int, float]]
    kills: int

    @property
    def judging(self) -> float:
        """Seconds from the first verdict to the last."""
        first, last = (
            next(clock for clock, done in self.samples if done >= least) for least in (1, self.samples[-1][1])
        )
        return last - first

    def least_memory(self, quarter: int) -> float:
        """In a quarter of the verdicts, from 0 on; NaN where nobody looked.

        What an answer takes while it is judged depends on its kata, and katas come in turn; what stays is the least.
        """
        made = len(self.verdicts)
        return min((found for done, found in self.memory if 4 * done // made == quarter), default=math.nan)


def show(console: Console, root: Path, count: int) -> bool:
    """Whether all goals are met."""
    torch_seconds = statistics.median(measure(IMPORT_TORCH, root)[0] for _ in range(IMPORTS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = make_class(folder / "class", root, count)
        console.print(f"a class with {made:,} answers, {WORKERS} workers")
        whole = run(console, root, folder, "undisturbed")
        killed = run(console, root, folder, f"a worker killed every {KILL_EVERY:.0f} s", kill=True)
        one = run(console, root, folder, "one worker", workers=1)
    second, last = whole.least_memory(1), whole.least_memory(3)
    most = max((found for _, found in whole.memory), default=math.nan)
    differing = [key for key, verdict in whole.verdicts.items() if killed.verdicts.get(key) != verdict]
    for key in differing:
        console.print(f"  {difference(whole.verdicts[key], killed.verdicts.get(key))}", markup=False)
    figures = [  # what, got, unit, goal
        # The import had the machine to itself, too.
        ("an answer, median, one worker", statistics.median(one.seconds) / torch_seconds, "x import torch", 0.25),
        ("the same, two workers", statistics.median(whole.seconds) / torch_seconds, "x import torch", None),
        ("an answer, mean, two workers", statistics.fmean(whole.seconds) / torch_seconds, "x import torch", None),
        ("all processors' time for an answer", WORKERS * whole.judging / made / torch_seconds, "x import torch", None),
        ("two workers against one", one.judging / whole.judging, "times as fast", -1.8),
        ("what Dask and results.sqlite add to each answer", 1e3 * empty_task(root), "ms", 10),
        ("least memory of all processes, last quarter against second", last / second, "times", 1.1),
        ("the same, last quarter", last / 1e9, "GB", None),
        ("memory of all processes, at most", most / 1e9, "GB", None),
        (f"verdicts that differ or are missing after {killed.kills} kills", float(len(differing)), f"of {made:,}", 0),
    ]
    shown = card.table("figure.", "got", ".", "goal", ".")
    fine = True
    for what, got, unit, goal in figures:
        met = goal is None or (got >= -goal if goal < 0 else got <= goal)
        fine &= met
        words = "" if goal is None else f"at least {-goal:g}" if goal < 0 else f"at most {goal:g}"
        shown.add_row(what, f"{got:.2f}", unit, words, "" if goal is None else "ok" if met else "MISSED")
    console.print(shown)
    console.print(f'python -c "import torch" takes {torch_seconds:.2f} s here')
    return fine


def make_class(folder: Path, root: Path, count: int) -> int:
    """A learner's folder with an answer to every kata, as often as it takes; the same each time. Returns how many."""
    chosen = katas.all_katas(root)
    hostile = {kata.id: sorted((root / "tests" / "hostile" / kata.id).glob("*.py")) for kata in chosen}
    share = HOSTILE * len(chosen) / max(sum(map(bool, hostile.values())), 1)
    draw = random.Random(SEED)
    sources = {}
    for kata in chosen:
        reference = kata.reference_file.read_text(encoding="utf-8")
        sources[kata.id] = {
            "references": [reference],
            "alternatives": [
                file.read_text(encoding="utf-8") for file in sorted((kata.solutions / "alternatives").glob("*.py"))
            ],
            "mistakes": [form for mistake in kata.mistakes for form in mistake.forms(reference).values()],
        }
    learners = max(count // len(chosen), 1)
    for learner in range(learners):
        home = folder / f"learner {learner}"
        home.mkdir(parents=True)
        for kata in chosen:
            if hostile[kata.id] and draw.random() < share:
                source = draw.choice(hostile[kata.id]).read_text(encoding="utf-8")
            else:
                (kind,) = draw.choices(list(KINDS), list(KINDS.values()))
                source = draw.choice(sources[kata.id][kind])
            (home / f"{kata.id}.py").write_text(f"{source}\n# of learner {learner}\n", encoding="utf-8")
    return learners * len(chosen)


def run(console: Console, root: Path, folder: Path, said: str, workers: int = WORKERS, kill: bool = False) -> Course:
    """Has the class judged by the command that an instructor types. Raises: UsageError where it fails."""
    out = folder / said.replace(" ", "-")
    options = ["--out", str(out), "--workers", str(workers), "--seed", str(SEED)]
    command = [*command_line(root), "cohort", str(folder / "class"), *options]
    began = time.perf_counter()
    samples, weights = list[tuple[float, int]](), list[tuple[int, float]]()
    kills, next_kill = 0, KILL_EVERY
    with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            time.sleep(LOOK_EVERY)
            clock = time.perf_counter() - began
            samples.append((clock, count_of(out / "results.sqlite")))
            if clock > WEIGH_EVERY * (len(weights) + 1):
                weights.append((samples[-1][1], sum(map(memory, family(process.pid)))))
            if kill and clock > next_kill:
                next_kill += KILL_EVERY
                kills += kill_a_worker(family(process.pid))
        assert process.stderr
        if process.returncode:
            raise UsageError(f"cohort ended with exit status {process.returncode}: {process.stderr.read()[-500:]}")
    with contextlib.closing(sqlite3.connect(out / "results.sqlite")) as connection:
        rows = connection.execute("SELECT key, seconds, document FROM verdicts").fetchall()
    verdicts = {key: without_measures(json.loads(document)) for key, _, document in rows}
    course = Course(verdicts, [seconds for _, seconds, _ in rows], samples, weights, kills)
    console.print(f"  {said}: {len(rows):,} verdicts in {course.judging:.0f} s")
    return course


def count_of(file: Path) -> int:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as c:
        return int(c.execute("SELECT COUNT(*) FROM verdicts").fetchone()[0])
    return 0


def kill_a_worker(processes: list[Any]) -> int:
    """Dask's worker is the parent of a judge's process. Returns how many were killed."""
    for process in random.sample(processes, len(processes)):
        with contextlib.suppress(psutil.Error):
            if "cohort import child" in " ".join(process.cmdline()):
                process.parent().kill()
                return 1
    return 0


def difference(one: dict[str, Any], other: dict[str, Any] | None) -> str:
    """Which answer two runs judge differently, and the first of its checks in which they do, or what else differs."""
    if other is None:
        return f"{one['kata']} has no verdict after the kills"
    checks = zip(one["tests"], other["tests"], strict=False)
    first = next((pair for pair in checks if pair[0] != pair[1]), None)
    fields = {name: (one[name], other[name]) for name in one if one[name] != other[name]}
    return f"{one['kata']} is {one['state']}, then {other['state']}: {first or fields}"


def without_measures(document: dict[str, Any]) -> dict[str, Any]:
    """What two runs must have alike. How many times the reference's time was taken is never quite the same."""
    tests = [
        {name: test[name] for name in ("name", "state", "score")}
        | ({} if test["category"] == "performance" else {"message": test["message"]})
        for test in document["tests"]
    ]
    return {name: value for name, value in document.items() if name not in ("seconds", "costs")} | {"tests": tests}


class Idle(Judging):
    """A worker's judge that has its answer ready."""

    def setup(self, worker: Worker) -> None:
        self.judge = self  # type: ignore[assignment]

    def teardown(self, worker: Worker) -> None:
        pass

    def grade(self, kata: str, source: Source, seed: int) -> Verdict:
        document = {"kata": kata, "padding": "x" * 20_000}  # of the usual length
        return Verdict(document, 0.0, replace(self.terms, seed=seed))


def empty_task(root: Path) -> float:
    """Seconds from one verdict to the next where judging takes no time."""
    kata = katas.all_katas(root)[0]
    options = argparse.Namespace(scheduler=None, workers=WORKERS)
    jobs = [cluster.Job(str(number), kata, Source("x" * 3000, "x.py")) for number in range(EMPTY_TASKS)]
    clocks: list[float] = []

    class Clocked(Ledger):
        def add(self, key: str, document: dict[str, Any], seconds: float) -> None:
            super().add(key, document, seconds)
            clocks.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        ledger = Clocked(Path(folder, "results.sqlite"))
        cluster.judge_all(jobs, ledger, Idle(root, "full"), SEED, options, Console(quiet=True))
        ledger.close()
    return (clocks[-1] - clocks[0]) / (len(clocks) - 1)

"""A class, judged by the command that an instructor types: by two workers, by two that are killed, by one."""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from graders.arguments import command_line
from graders.author.bench.measuring import TIMES, Figure, family, memory, tell
from graders.catalogue import katas
from graders.faults import UsageError

KINDS = {"references": 0.25, "alternatives": 0.25, "mistakes": 0.48, "hostile": 0.02}  # what learners hand in
SEED = 1
KILL_EVERY, WEIGH_EVERY = 60.0, 10.0  # seconds


@dataclass
class Course:
    """How a run went: the verdicts by their keys, the seconds of each, the memory after so many, the workers killed."""

    verdicts: dict[str, Any]
    seconds: list[float]
    judging: float
    memory: list[tuple[int, float]]
    kills: int

    def least_memory(self, quarter: int) -> float:
        """In a quarter of the verdicts: katas come in turn and take more or less, and what stays is the least."""
        made = len(self.verdicts)
        return min((found for done, found in self.memory if 4 * done // made == quarter), default=float("nan"))


def figures(root: Path, options: argparse.Namespace, torch: float) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        made = make_class(Path(name, "class"), root, options.answers)
        whole, killed, one = run(root, Path(name), 2), run(root, Path(name), 2, kill=True), run(root, Path(name), 1)
    differing = sum(killed.verdicts.get(key) != verdict for key, verdict in whole.verdicts.items())
    yield "an answer, median, one worker", statistics.median(one.seconds) / torch, TIMES, 0.28
    yield "the same, two workers", statistics.median(whole.seconds) / torch, TIMES, None
    yield "two workers against one", one.judging / whole.judging, "times as fast", -1.8
    yield "least memory, last quarter against second", whole.least_memory(3) / whole.least_memory(1), "times", 1.1
    yield "memory of all processes, at most", max(found for _, found in whole.memory) / 1e9, "GB", None
    yield f"verdicts that differ after {killed.kills} kills", float(differing), f"of {made:,}", 0


def make_class(folder: Path, root: Path, count: int) -> int:
    """A learner's folder with an answer to every kata, as often as it takes; the same each time. Returns how many."""
    draw, chosen = random.Random(SEED), katas.all_katas(root)
    learners = max(count // len(chosen), 1)
    for kata in chosen:
        reference = kata.reference_file.read_text(encoding="utf-8")
        files = [kata.solutions.glob("alternatives/*.py"), (root / "tests" / "hostile" / kata.id).glob("*.py")]
        alternatives, hostile = ([file.read_text(encoding="utf-8") for file in sorted(each)] for each in files)
        mistakes = [form for mistake in kata.mistakes for form in mistake.forms(reference).values()]
        for learner in range(learners):
            (sources,) = draw.choices([[reference], alternatives, mistakes, hostile], [*KINDS.values()])
            home = folder / f"learner {learner}"
            home.mkdir(parents=True, exist_ok=True)
            text = draw.choice(sources or [reference])
            (home / f"{kata.id}.py").write_text(f"{text}\n# of learner {learner}\n", encoding="utf-8")
    return learners * len(chosen)


def run(root: Path, folder: Path, workers: int, kill: bool = False) -> Course:
    """Raises: UsageError where the command fails."""
    out = folder / f"{workers} {kill}"
    options = ["--out", str(out), "--workers", str(workers), "--seed", str(SEED)]
    began, clocks, weights, kills = time.perf_counter(), list[float](), list[tuple[int, float]](), 0
    with subprocess.Popen(
        [*command_line(root), "cohort", str(folder / "class"), *options],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None:
            time.sleep(1)
            clock, done = time.perf_counter() - began, len(verdicts(out))
            tell(f"a class, {workers} workers{', one killed each minute' if kill else ''}: {done:,} verdicts")
            clocks += [clock] * (done > 0)
            if clock > WEIGH_EVERY * (len(weights) + 1):
                weights.append((done, sum(map(memory, family(process.pid)))))
            if kill and clock > KILL_EVERY * (kills + 1):
                kills += kill_a_worker(family(process.pid))
        assert process.stderr
        if process.returncode:
            raise UsageError(f"cohort ended with exit status {process.returncode}: {process.stderr.read()[-500:]}")
    rows = verdicts(out, "key, seconds, document")
    judged = {key: without_measures(json.loads(document)) for key, _, document in rows}
    return Course(judged, [seconds for _, seconds, _ in rows], clocks[-1] - clocks[0], weights, kills)


def verdicts(out: Path, columns: str = "key") -> list[Any]:
    place = f"file:{out / 'results.sqlite'}?mode=ro"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(place, uri=True)) as connection:
        return connection.execute(f"SELECT {columns} FROM verdicts").fetchall()
    return []


def kill_a_worker(processes: list[Any]) -> int:
    """Dask's worker is the parent of a judge's process. Returns how many were killed."""
    for process in random.sample(processes, len(processes)):
        with contextlib.suppress(psutil.Error):
            if "cohort import child" in " ".join(process.cmdline()):
                process.parent().kill()
                return 1
    return 0


def without_measures(document: dict[str, Any]) -> dict[str, Any]:
    """What two runs must have alike. How many times the reference's time was taken is never quite the same."""
    tests = [
        {name: test[name] for name in ("name", "state", "score")}
        | ({} if test["category"] == "performance" else {"message": test["message"]})
        for test in document["tests"]
    ]
    return {name: value for name, value in document.items() if name not in ("seconds", "costs")} | {"tests": tests}

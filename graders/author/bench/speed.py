"""The judge's commands, timed against `import torch`: whole ones, and a verdict inside `watch`."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from operator import truediv
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from rich.console import Console

from graders.arguments import command_line
from graders.author.bench.progress import tell
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT, UsageError
from graders.judge import card

IMPORT_TORCH = [sys.executable, "-c", "import torch"]
NOX_GRADE = [sys.executable, "-m", "nox", "-s", "grade", "--", "--reference", "--device", "cpu"]
PYTHON_GRADE = [sys.executable, "-m", "graders", "grade", "--reference", "--device", "cpu"]
FIRST = "cosine_similarity"
COMMANDS = {
    "torch": IMPORT_TORCH,
    "one": [*NOX_GRADE, FIRST],
    "all": NOX_GRADE,
    "alone": [*NOX_GRADE, "--workers", "1"],
    "no nox": [*PYTHON_GRADE, FIRST],
}
# Python keeps what it has compiled, as it does for users who do not forbid it.
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
FIRST_KATA, FURTHER_KATA = 1.3, 0.3  # goals
SAVES = 5
LONG, LONG_RUNS = ("all", "alone"), 2  # commands that take half a minute each, and rounds of these
WATCHED = 13  # katas: of all 63 a median takes five minutes
MOST_MEMORY = 3.0
POLL_SECONDS = 0.02
Figure = tuple[str, float, float | None]  # what, got, goal: at least, where it is negative


def show(console: Console, root: Path, runs: int) -> bool:
    """Whole commands. Whether all goals are met."""
    walls, peaks = timed(root, runs)

    def median(figure: Callable[..., float], *names: str) -> float:
        return statistics.median(map(figure, *(walls[name] for name in names)))  # of the rounds that have them all

    further = len(katas.all_katas(root)) - 1
    again = f"median of {len(walls['all'])}"  # rounds
    figures: list[Figure] = [
        ("one kata, cold", median(truediv, "one", "torch"), FIRST_KATA),
        ("of it, nox", median(lambda one, bare, torch: (one - bare) / torch, "one", "no nox", "torch"), None),
        (f"all katas, {again}", median(truediv, "all", "torch"), FIRST_KATA + FURTHER_KATA * further),
        (
            "each further kata",
            median(lambda all_of_them, one, torch: (all_of_them - one) / further / torch, "all", "one", "torch"),
            FURTHER_KATA,
        ),
        (f"all katas, one judge against all, {again}", median(truediv, "alone", "all"), -1.7),
        (
            "the same, less import torch",
            median(lambda alone, all_of_them, torch: (alone - torch) / (all_of_them - torch), "alone", "all", "torch"),
            None,
        ),
    ]
    if peaks["torch"]:
        figures.append(("memory of all processes, one kata", peaks["one"] / peaks["torch"], MOST_MEMORY))
        figures.append(("memory of all processes, all katas", peaks["all"] / peaks["torch"], None))
    fine = tell_figures(console, figures)
    console.print(f'python -c "import torch" takes {statistics.median(walls["torch"]):.2f} s here')
    return fine


def show_watch(console: Console, root: Path, runs: int) -> bool:
    """A verdict inside `watch`. Whether its goal is met."""
    torch = statistics.median(measure(IMPORT_TORCH, root)[0] for _ in range(runs))
    first, *others = [katas.find_one(FIRST, root), *sample([*katas.all_katas(root)], WATCHED)]
    again = watched_seconds(first) / torch
    seconds = [watched_seconds(kata) / torch for kata in others]
    return tell_figures(
        console,
        [
            ("one kata again, inside watch", again, 0.25),
            (f"the same, the median of {len(seconds)} along the path", statistics.median(seconds), None),
            (f"the same, the slowest of {len(seconds)} along the path", max(seconds), None),
        ],
    )


def timed(root: Path, runs: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Of each command the seconds in each round, and the peak of its memory."""
    walls: dict[str, list[float]] = defaultdict(list)
    peaks: dict[str, float] = {}
    for repetition in range(runs + 1):  # in turn, so that a slow spell of the machine hits all of them
        for name, command in COMMANDS.items():
            if name in LONG and repetition > LONG_RUNS:
                continue
            tell(f"round {repetition} of {runs}: {' '.join(command[1:])}")
            if not repetition:  # looking at the memory takes time, and this round warms the disk cache
                peaks[name] = measure(command, root, memory_too=True)[1]
            else:
                walls[name].append(measure(command, root)[0])
    return walls, peaks


def tell_figures(console: Console, figures: Sequence[Figure]) -> bool:
    """Whether all goals are met."""
    made = card.table("figure.", "x import torch", "goal", ".")
    fine = True
    for what, got, goal in figures:
        met = goal is None or (got <= goal if goal > 0 else got >= -goal)
        fine &= met
        words = "" if goal is None else f"at most {goal:g}" if goal > 0 else f"at least {-goal:g}"
        made.add_row(what, f"{got:.2f}", words, "" if goal is None else "ok" if met else "MISSED")
    console.print(made)
    return fine


def sample(every: list[Kata], most: int) -> list[Kata]:
    """At most so many, evenly along the path."""
    every = sorted(every, key=lambda kata: kata.rank)
    return every[:: max(-(-len(every) // most), 1)]


def measure(command: Sequence[str], root: Path, memory_too: bool = False) -> tuple[float, float]:
    """Wall seconds, and the peak of the memory of the command and all its descendants in bytes (Linux tells it)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=root, env=USUAL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    done = threading.Event()

    def poll() -> None:
        nonlocal peak
        while not done.wait(POLL_SECONDS):
            peak = max(peak, sum(map(memory, family(process.pid))))

    watcher = threading.Thread(target=poll)
    if memory_too:
        watcher.start()
    status = process.wait()
    seconds = time.perf_counter() - start
    done.set()
    if memory_too:
        watcher.join()
    if status:
        raise UsageError(f"{' '.join(command)} ended with exit status {status}, nothing was measured; mend that first")
    return seconds, peak


def watched_seconds(kata: Kata) -> float:
    """From a save to the whole verdict, the median of several saves of the reference in a copy of the katas."""
    tell(f"watch: {kata.id}")
    text = kata.reference_file.read_text(encoding="utf-8")
    with watching(kata) as saved:
        return statistics.median(saved(f"{text}# {save}\n") for save in range(SAVES))


@contextlib.contextmanager
def watching(kata: Kata) -> Iterator[Callable[[str], float]]:
    """While `watch` runs on a copy of the katas. It gives what saves a text and tells the seconds to the verdict."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("katas", "solutions"):
            shutil.copytree(kata.root / folder, root / folder)
        file = root / kata.answer_file.relative_to(kata.root)
        file.write_text(kata.reference_file.read_text(encoding="utf-8"), encoding="utf-8")
        process = subprocess.Popen(
            [*command_line(root), "watch", kata.id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=USUAL,
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None

            def verdict() -> None:
                for line in process.stdout or ():
                    if "h hint  n next" in line:  # the last line of a verdict
                        return
                raise UsageError(f"watch ended while {kata.id} was measured; mend that first")

            def saved(text: str) -> float:
                file.write_text(text, encoding="utf-8")
                began = time.perf_counter()
                verdict()
                return time.perf_counter() - began

            verdict()
            yield saved
            process.stdin.write("q\n")


def family(pid: int) -> list[psutil.Process]:
    """The process and all below it; none once it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


def memory(process: psutil.Process) -> float:
    """Proportional set size in bytes: pages that a forked worker shares with its server count once. 0 once it ended."""
    with contextlib.suppress(psutil.Error):
        return float(process.memory_full_info().pss)
    return 0.0

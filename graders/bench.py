"""`bench`: what grading costs a user, as multiples of `python -c "import torch"` measured in the same run."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from graders import card

IMPORT_TORCH = [sys.executable, "-c", "import torch"]
NOX_GRADE = [sys.executable, "-m", "nox", "-s", "grade", "--", "--reference", "--device", "cpu"]
FIGURES = (  # what, command, most times the wall time of IMPORT_TORCH
    ("one kata, cold", [*NOX_GRADE, "cosine_similarity"], 1.5),
    ("all katas", NOX_GRADE, 6.0),
)
MOST_MEMORY = 3.0
POLL_SECONDS = 0.02


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a figure is above its limit."""
    console = card.console()
    commands = [IMPORT_TORCH, *(command for _, command, _ in FIGURES)]
    walls: dict[int, list[float]] = defaultdict(list)
    peaks: dict[int, list[float]] = defaultdict(list)
    for repetition in range(options.runs + 1):  # in turn, so that a slow spell of the machine hits all of them
        for index, command in enumerate(commands):
            seconds, peak = measure(command, root)
            if repetition:  # the first round only warms the disk cache
                walls[index].append(seconds)
                peaks[index].append(peak)
            if console.is_terminal:
                console.print(f"round {repetition} of {options.runs}", end="\r")
    made = Table(box=None, padding=(0, 1))
    for heading in ("figure", "median", "x import torch", "limit", ""):
        made.add_column(heading, justify="left" if heading in ("figure", "") else "right", no_wrap=True)
    fine = True
    made.add_row('python -c "import torch"', f"{statistics.median(walls[0]):.2f} s", "1.00", "", "")
    for index, (what, _, limit) in enumerate(FIGURES, start=1):
        ratio = statistics.median(wall / base for wall, base in zip(walls[index], walls[0], strict=True))
        fine &= add_row(made, what, f"{statistics.median(walls[index]):.2f} s", ratio, limit)
    if peaks[0][0]:
        for index, (what, _, _) in enumerate(FIGURES, start=1):
            ratio = statistics.median(peak / base for peak, base in zip(peaks[index], peaks[0], strict=True))
            megabytes = f"{statistics.median(peaks[index]) / 2**20:.0f} MB"
            fine &= add_row(made, f"memory of all processes, {what}", megabytes, ratio, MOST_MEMORY)
    console.print(made)
    return int(not fine)


def add_row(made: Table, what: str, median: str, ratio: float, limit: float) -> bool:
    made.add_row(what, median, f"{ratio:.2f}", f"{limit:.1f}", "ok" if ratio <= limit else "ABOVE")
    return ratio <= limit


def measure(command: Sequence[str], root: Path) -> tuple[float, float]:
    """Wall seconds, and the peak of the memory of the command and all its descendants in bytes (0 without /proc)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    done = threading.Event()

    def poll() -> None:
        nonlocal peak
        while not done.wait(POLL_SECONDS):
            peak = max(peak, sum(map(memory, descendants(process.pid))))

    watcher = threading.Thread(target=poll)
    watcher.start()
    status = process.wait()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    if status:
        raise SystemExit(f"error: {' '.join(command)} ended with exit status {status}; nothing was measured")
    return seconds, peak


def descendants(pid: int) -> list[int]:
    """The process and all below it, from /proc."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it ended meanwhile
        children[parent].append(int(entry.name))
    found = [pid]
    for one in found:
        found += children[one]
    return found


def memory(pid: int) -> float:
    """Proportional set size in bytes: pages that a forked worker shares with its server count once."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass  # it ended meanwhile, or there is no /proc
    return 0.0

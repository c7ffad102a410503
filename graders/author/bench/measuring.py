"""Times and memory of whole commands, and of a save in `watch`."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from graders.arguments import command_line
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import ROOT, UsageError

# Python keeps what it has compiled, as it does for users who do not forbid it.
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
IMPORT_TORCH = [sys.executable, "-c", "import torch"]
POLL_SECONDS = 0.02
WIDTH = 79  # of a line on a terminal that the next one is written over
TIMES = "x import torch"
Figure = tuple[str, float, str, float | None]  # what, got, unit, goal: at least, where it is negative


def tell(what: str) -> None:
    """Says on stderr what is measured now: some measurements take minutes."""
    print(f"{what[:WIDTH]:{WIDTH}}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


def torch_seconds(runs: int) -> float:
    tell("import torch")
    return statistics.median(seconds_of(IMPORT_TORCH, ROOT) for _ in range(runs + 1))


def sample(root: Path, most: int) -> list[Kata]:
    """At most so many katas, evenly along the path."""
    every = sorted(katas.all_katas(root), key=lambda kata: kata.rank)
    return every[:: max(-(-len(every) // most), 1)]


def seconds_of(command: Sequence[str], root: Path) -> float:
    """On the wall. Raises: UsageError where the command fails."""
    began = time.perf_counter()
    with begun(command, root) as process:
        process.wait()
        return time.perf_counter() - began


def peak_of(command: Sequence[str], root: Path) -> float:
    """Of the memory of the command and all below it, in bytes (Linux tells it). Raises: UsageError where it fails."""
    peak = 0.0
    with begun(command, root) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(memory, family(process.pid))))
            time.sleep(POLL_SECONDS)
    return peak


@contextlib.contextmanager
def begun(command: Sequence[str], root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command, whose words nobody reads. Raises: UsageError where it fails."""
    process = subprocess.Popen(command, cwd=root, env=USUAL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process
    if status := process.wait():
        raise UsageError(f"{' '.join(command)} ended with exit status {status}, nothing was measured; mend that first")


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


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Path]:
    """A copy of the katas and their solutions, to write answers into."""
    with tempfile.TemporaryDirectory() as name:
        for folder in ("katas", "solutions"):
            shutil.copytree(root / folder, Path(name) / folder)
        yield Path(name)


@contextlib.contextmanager
def watching(kata: Kata) -> Iterator[Callable[[str], float]]:
    """While `watch` runs on a copy of the katas: what saves a text, and tells the seconds to the whole verdict."""
    with copied(kata.root) as root:
        file = root / kata.answer_file.relative_to(kata.root)
        file.write_text(kata.reference_file.read_text(encoding="utf-8"), encoding="utf-8")
        command = [*command_line(root), "watch", kata.id]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=USUAL) as process:
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

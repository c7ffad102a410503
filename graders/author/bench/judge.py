"""The judge: one kata cold, each further one, a save in `watch`; what two judges and their memory add."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from operator import truediv
from pathlib import Path

from graders.author.bench.measuring import IMPORT_TORCH, TIMES, Figure, peak_of, sample, seconds_of, tell, watching
from graders.catalogue import katas
from graders.catalogue.katas import Kata

GRADE = [sys.executable, "-m", "nox", "-s", "grade", "--", "--reference", "--device", "cpu"]
COMMANDS = {
    "torch": IMPORT_TORCH,
    "one": [*GRADE, "cosine_similarity"],
    "all": GRADE,
    "alone": [*GRADE, "--workers", "1"],
}
LONG, LONG_RUNS = ("all", "alone"), 2  # commands that take half a minute each, and rounds of these
WATCHED = 13  # katas: of all 63 a median takes five minutes
SAVES = 5


def figures(root: Path, options: argparse.Namespace, torch: float) -> Iterator[Figure]:
    walls: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(options.runs):  # in turn, so that a slow spell of the machine hits all of them
        for name, command in COMMANDS.items():
            if name not in LONG or number < LONG_RUNS:
                tell(f"round {number + 1} of {options.runs}: {' '.join(command[1:])}")
                walls[name].append(seconds_of(command, root))
    one, alone = (statistics.median(map(truediv, walls[name], walls["torch"])) for name in ("one", "all"))
    further = len(katas.all_katas(root)) - 1
    yield "one kata, cold", one, TIMES, 1.25
    yield "each further kata", (alone - one) / further, TIMES, 0.27
    yield "all katas, two judges against one", statistics.median(map(truediv, walls["alone"], walls["all"])), "", -1.7
    first, *others = (watched(kata) / torch for kata in sample(root, WATCHED))
    yield "the first kata again, inside watch", first, TIMES, 0.25
    yield f"the same, median of {len(others)} along the path", statistics.median(others), TIMES, None
    yield "the same, the slowest of them", max(others), TIMES, None
    tell("memory")
    peaks = [peak_of(COMMANDS[name], root) for name in ("torch", "one", "all")]
    if peaks[0]:
        yield "memory of all processes, one kata", peaks[1] / peaks[0], TIMES, 3.0
        yield "memory of all processes, all katas", peaks[2] / peaks[0], TIMES, None


def watched(kata: Kata) -> float:
    """Seconds from a save to the whole verdict, the median of several saves of the reference."""
    tell(f"watch: {kata.id}")
    text = kata.reference_file.read_text(encoding="utf-8")
    with watching(kata) as saved:
        return statistics.median(saved(f"{text}# {save}\n") for save in range(SAVES))

"""`soak`: the same answers graded again and again on a busy machine. No verdict may differ, and no slow answer pass."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from graders.author.prove import write
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.judge import card
from graders.judge.budgets import limit
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher

# Keeps one processor and the memory bus busy, and ends when soak does, however that ends.
NOISE = """
import os
soak, block = os.getppid(), bytearray(1 << 26)
while os.getppid() == soak:
    block[:] = bytes(1 << 26)
"""


@dataclass
class Found:
    """What was seen of one kind of answer: verdicts, and shares of their limits that budgets' figures took.

    Of times there are only those that one reading did not settle: see budgets.processor_time.
    """

    runs: int = 0
    wrong: int = 0
    shares: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kata: Kata, name: str, result: Result, expected: str) -> str:
        """What was wrong with it, if anything."""
        self.runs += 1
        limits = {budget.name: budget for answer in kata.grader.answers for budget in answer.budgets}
        for budget, figures in result.costs.items():
            for figure, (own, reference) in figures.items():
                self.shares[figure].append(own / limit(limits[budget], figure, reference))
        if result.state == expected:
            return ""
        self.wrong += 1
        failed = result.first_failure
        why = f"{failed.name}: {failed.message}" if failed else result.message
        return f"{kata.id}/{name} should be {expected}, but it is {result.state}: {why}"


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a verdict was not what it should be; 130 where it was interrupted, after what was seen."""
    launcher = new_launcher()  # before any grader is imported: see launcher.py
    console = card.console()
    torch.set_num_threads(1)
    chosen = katas.find(options.katas, root)
    kinds = {"references": options.references, "alternatives": options.others, "slow mistakes": options.others}
    found = {kind: Found() for kind in kinds}
    interrupted = False
    with tempfile.TemporaryDirectory() as folder, busy():
        files = {(kata.id, kind): files_of(kata, kind, Path(folder)) for kata in chosen for kind in kinds}
        try:
            for turn in range(max(kinds.values())):
                seed = secrets.randbelow(1 << 31)
                judge = WarmJudge(launcher, seed=seed)
                for kind, kata in itertools.product(kinds, chosen):
                    slow = kind == "slow mistakes"
                    for path in files[kata.id, kind] if turn < kinds[kind] else ():
                        result = judge.grade(kata, source_of(kata, path), only="performance" if slow else "")
                        if wrong := found[kind].add(kata, path.stem, result, "failing" if slow else "solved"):
                            console.print(f"WRONG  {wrong} (seed {seed})", markup=False, soft_wrap=True)
                judge.close()
                seen, bad = sum(one.runs for one in found.values()), sum(one.wrong for one in found.values())
                said = f"round {turn + 1} of {max(kinds.values())}: {seen:,} gradings, {bad:,} wrong"
                console.print(said, end="\r" if console.is_terminal else "\n")
        except KeyboardInterrupt:
            interrupted = True
    launcher.close()
    console.print(table(found))
    return 130 if interrupted else int(any(one.wrong for one in found.values()))


def files_of(kata: Kata, kind: str, folder: Path) -> list[Path]:
    if kind == "references":
        return [kata.reference_file]
    if kind == "alternatives":
        return sorted((kata.solutions / "alternatives").glob("*.py"))
    reference = kata.reference_file.read_text(encoding="utf-8")
    place = folder / kata.id
    place.mkdir()
    slow = [mistake.forms(reference) for mistake in kata.mistakes if mistake.slow]
    return [write(place, form, source) for forms in slow for form, source in forms.items()]


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """All processors but one have something else to do; at least one has."""
    others = [subprocess.Popen([sys.executable, "-c", NOISE]) for _ in range(max((os.cpu_count() or 1) - 1, 1))]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def table(found: dict[str, Found]) -> Any:
    made = card.table("answers.", "gradings", "wrong", "figure.", "share of its limit:", "median", "most")
    for kind, one in found.items():
        made.add_row(kind, f"{one.runs:,}", f"{one.wrong:,}")
        for figure, shares in one.shares.items() if kind != "slow mistakes" else ():
            made.add_row("", "", "", figure, "", f"{statistics.median(shares):.0%}", f"{max(shares):.0%}")
    return made

"""`soak`: the same answers graded again and again on a busy machine. No verdict may differ, and no slow answer pass."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.judge import screen
from graders.judge.budgets import NOUNS, limit
from graders.judge.results import Result
from graders.judge.warm import WarmJudge
from graders.sandbox.launcher import new_launcher

# Keeps one processor and the memory bus busy, and ends when soak does, however that ends.
NOISE = """
import os
soak, block = os.getppid(), bytearray(1 << 26)
while os.getppid() == soak:
    block[:] = bytes(1 << 26)
"""
SLOW = "slow mistakes"


def main(options: argparse.Namespace, root: Path) -> int:
    """Exit status: 1 where a verdict was not what it should be; 130 where it was interrupted, after what was seen."""
    launcher = new_launcher()  # before any grader is imported: see launcher.py
    console = screen.console()
    torch.set_num_threads(1)
    chosen = katas.find(options.katas, root)
    rounds = {"references": options.references, "alternatives": options.others, SLOW: options.others}
    seen, wrong, shares = Counter[str](), Counter[str](), defaultdict[tuple[str, str], list[float]](list)
    interrupted = False
    with busy(), contextlib.closing(launcher):
        try:
            for number in range(max(rounds.values())):
                judge = WarmJudge(launcher, seed=secrets.randbelow(1 << 31))
                for kata in chosen:
                    for kind, source in sources(kata):
                        if number >= rounds[kind]:
                            continue
                        result = judge.grade(kata, source, only="performance" if kind == SLOW else "")
                        seen[kind] += 1
                        for figure, share in shares_of(kata, result):
                            shares[kind, figure].append(share)
                        if result.state != ("failing" if kind == SLOW else "solved"):
                            wrong[kind] += 1
                            failed = result.first_failure
                            why = f"{failed.name}: {failed.message}" if failed else result.message
                            said = f"WRONG  {kata.id}/{source.shown} is {result.state}: {why} (seed {judge.seed})"
                            console.print(said, markup=False, soft_wrap=True)
                judge.close()
                said = (
                    f"round {number + 1} of {max(rounds.values())}: {seen.total():,} gradings, {wrong.total():,} wrong"
                )
                console.print(said, end="\r" if console.is_terminal else "\n")
        except KeyboardInterrupt:
            interrupted = True
    made = screen.table("answers.", "gradings", "wrong", "most of a limit:", *NOUNS.values())
    for kind, count in seen.items():
        most = ("" if kind == SLOW else f"{max(shares[kind, figure], default=0):.0%}" for figure in NOUNS)
        made.add_row(kind, f"{count:,}", f"{wrong[kind]:,}", "", *most)
    console.print(made)
    return 130 if interrupted else int(bool(wrong.total()))


def sources(kata: Kata) -> Iterator[tuple[str, Source]]:
    """Each answer, with its kind before it."""
    reference = kata.reference_file.read_text(encoding="utf-8")
    yield "references", Source(reference, "reference")
    for file in kata.alternatives:
        yield "alternatives", Source(file.read_text(encoding="utf-8"), file.stem)
    for mistake in kata.mistakes:
        for form, text in mistake.forms(reference).items() if mistake.slow else ():
            yield SLOW, Source(text, form)


def shares_of(kata: Kata, result: Result) -> Iterator[tuple[str, float]]:
    """What its figures took of their limits; of times, those that one reading did not settle."""
    limits = {budget.name: budget for answer in kata.grader.answers for budget in answer.budgets}
    for budget, figures in result.costs.items():
        for figure, (own, reference) in figures.items():
            yield figure, own / limit(limits[budget], figure, reference)


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

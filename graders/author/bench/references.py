"""The references beside torch's own operators: operators, memory and time at the sizes of the budgets."""

from __future__ import annotations

import ast
import statistics
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from graders.author.bench.progress import tell
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.judge import budgets, card
from graders.judge.run import DEFAULT_SEED
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.submission import Submission


def show(console: Console, root: Path, runs: int) -> None:
    made = card.table("reference (in brackets: times torch's).", "operators", "MB", "ms")
    stand_for = []
    launcher = new_launcher()
    try:
        for kata in katas.all_katas(root):
            builtin = kata.solutions / "builtin.py"
            if not builtin.exists():
                stand_for.append(f"{kata.id}: nothing of torch stands beside it")
                continue
            stand_for.append(f"{kata.id}: {ast.get_docstring(ast.parse(builtin.read_text(encoding='utf-8')))}")
            tell(f"reference: {kata.id}")
            for row in reference_rows(kata, builtin, launcher, runs):
                made.add_row(*row)
    finally:
        launcher.close()
    console.print(made)
    for line in stand_for:
        console.print(line, markup=False, soft_wrap=True)


def reference_rows(kata: Kata, builtin: Path, launcher: Launcher, runs: int) -> list[list[str]]:
    """One for each budget: the reference's cost, and its ratio to that of torch's own operator."""
    grader = replace(kata.grader, banned=())
    names = [answer.name for answer in grader.answers]
    torchs, own = (Submission(read_source(path, path.name), names, launcher) for path in (builtin, kata.reference_file))
    rows = []
    try:
        for answer in grader.answers:
            for budget in answer.budgets:
                trial = Trial(TestVectors(kata.id, grader, DEFAULT_SEED), torchs, own, {})
                theirs, ours = (reply.cost for reply in budgets.full_size_replies(trial, answer, budget))
                assert theirs is not None
                assert ours is not None
                pairs = [
                    budgets.measured_replies(
                        trial, TestVectors(kata.id, grader, (DEFAULT_SEED, run)), answer, budget, measure="time"
                    )
                    for run in range(runs)
                ]
                ratio = statistics.median(our.seconds / their.seconds for their, our in pairs)
                milliseconds = 1e3 * statistics.median(our.seconds for _, our in pairs)
                rows.append(
                    [
                        f"{kata.id}/{budget.name}",
                        f"{ours.operators:,} ({ours.operators / theirs.operators:.2f})",
                        f"{ours.peak / 1e6:,.2f} ({ours.peak / theirs.peak:.2f})",
                        f"{milliseconds:.1f} ({ratio:.2f})",
                    ]
                )
    finally:
        torchs.close()
        own.close()
    return rows

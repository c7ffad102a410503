"""Writes a statement's tables of points and budgets under `## What is graded`, and the main README's list of all katas.

The front page's line on the core also: it says where float32 is too coarse. And the address by which the main README
says how to clone: that of pyproject.toml.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import torch
from torch import Tensor

from graders.arguments import address
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.faults import GraderError, UsageError
from graders.files import replace_file
from graders.judge import checks
from graders.judge.budgets import SPARE
from graders.judge.vectors import TestVectors
from graders.kata.compare import mismatch_mask
from graders.kata.spec import CATEGORIES
from graders.sandbox.returned import leaves_of

CLONE = re.compile(r"^\$ git clone \S+ katas && cd katas.*$", re.MULTILINE)
UNKNOWN = "ADDRESS katas && cd katas      # the address is under this page's green button, Code"
LIST = re.compile(r"^- `[a-z]+`: .*?\n(?=\n)", re.DOTALL | re.MULTILINE)
HEADING = "## What is graded\n"
CORE = re.compile(r"(-k core` tests this)( alone\.|; .*)$", re.MULTILINE)
LAST = "</details>\n\nWhen the core is right, go on with the [follow-up questions](follow_up.md).\n"
BUDGETS = (
    "Cost is tested once the core is right. The limits are multiples of what the reference needs, plus "
    f"{SPARE['operators']} operators and {SPARE['peak'] >> 20} MiB, as [measured](../../../docs/performance.md):"
)


def main(options: argparse.Namespace, root: Path) -> int:
    for kata in katas.find(options.katas, root):
        try:
            text = with_tables(kata)
        except GraderError as error:
            raise UsageError(f"{kata.grader_file.relative_to(root)} should be mended first: {error}") from None
        rewrite(kata.statement, text, f"what follows {HEADING.strip()!r}", root)
    readme = root / "README.md"
    if readme.exists():
        text = up_to_date(readme.read_text(encoding="utf-8"), katas.all_katas(root))
        rewrite(readme, text, "the list of all katas, and the address,", root)
    return 0


def rewrite(path: Path, text: str, what: str, root: Path) -> None:
    """Writes the file anew where that changes it, and says so."""
    changed = text != path.read_text(encoding="utf-8")
    if changed:
        replace_file(path, text)
    print(f"{path.relative_to(root)}: {what} is {'written anew' if changed else 'as it should be'}")


def up_to_date(readme: str, all_katas: list[Kata]) -> str:
    """The main README with its list of katas anew: topics by their share in the first path, then from easy to hard.

    And with the address to clone.
    """
    root = all_katas[0].root
    _, path = next(iter(katas.goals(root).values()), ("", []))
    topics: dict[str, list[Kata]] = {}
    for kata in sorted(all_katas, key=lambda kata: (kata.about.level, kata.rank)):
        topics.setdefault(kata.topic, []).append(kata)
    rows = {
        topic: ", ".join(f"[{one.about.title}]({one.folder.relative_to(one.root).as_posix()})" for one in members)
        for topic, members in topics.items()
    }
    shares = {topic: sum(one.id in path for one in members) / len(members) for topic, members in topics.items()}
    listed = (f"- `{topic}`: {rows[topic]}\n" for topic in sorted(rows, key=lambda topic: -shares[topic]))
    known = address(root)
    clone = f"$ git clone {known} katas && cd katas" if known else f"$ git clone {UNKNOWN}"
    return CLONE.sub(lambda _: clone, LIST.sub(lambda _: "".join(listed), readme, count=1))


def with_tables(kata: Kata) -> str:
    """The statement with this section anew, which is its last one. Raises: UsageError, GraderError."""
    if not kata.statement.exists():
        raise UsageError(
            f"{kata.statement.relative_to(kata.root)} should be written first, down to {HEADING.strip()!r}"
        )
    text = kata.statement.read_text(encoding="utf-8")
    before, heading, _ = text.partition(HEADING)
    if not heading:
        before = f"{before.rstrip()}\n\n<details>\n<summary>What is graded</summary>\n\n"
    before = CORE.sub(rf"\1{'; float32 inside float64 fails.' if needs_float64(kata) else ' alone.'}", before)
    parts = [points_of(kata)]
    if any(answer.budgets for answer in kata.grader.answers):
        parts += [BUDGETS, budgets_of(kata)]
    return before + HEADING + "\n" + "\n\n".join([*parts, LAST])


def needs_float64(kata: Kata) -> bool:
    """Whether the core asks for a result that is wrong once rounded to float32; a draft of a grader asks for none."""
    vectors = TestVectors(kata.id, kata.grader, 0)
    try:
        return any(
            bool(mismatch_mask(one.float().double(), one, answer.tolerance_for(case, torch.float64)).any())
            for answer in kata.grader.answers
            for case in answer.cases
            if case.in_core and not case.raises and torch.float64 in case.dtypes
            for one in leaves_of(vectors.expected(answer, case, torch.float64, 0).result).values()
            if isinstance(one, Tensor) and one.dtype == torch.float64
        )
    except GraderError:  # which `check` tells
        return False


def points_of(kata: Kata) -> str:
    planned = checks.plan(kata.grader, kata.module)
    rows = ["| category | checks | points |", "| --- | ---: | ---: |"]
    for category in CATEGORIES:
        points = [check.points for check in planned if check.category == category]
        if points:
            rows.append(f"| {category} | {len(points)} | {sum(points)} |")
    return "\n".join(rows)


def budgets_of(kata: Kata) -> str:
    rows = ["| budget | size | at most |", "| --- | --- | --- |"]
    for budget in (budget for answer in kata.grader.answers for budget in answer.budgets):
        sizes = ", ".join(f"{large:,} {axis}" for axis, (_, large) in budget.sizes.items())
        shortest = min(large for _, large in budget.sizes.values())
        limits = {
            "loops": f"{budget.operators:g} × the operators, no line that runs {shortest:,} times",
            "memory": f"{budget.peak:g} × the memory in use, {budget.written:g} × the memory written",
            "time": f"{budget.time:g} × the processor time",
        }
        rows.append(f"| {budget.name} | {sizes} | {', '.join(limits[asked] for asked in budget.asks)} |")
    return "\n".join(rows)

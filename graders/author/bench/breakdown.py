"""Where one judge's time goes: grades all references in a process of its own, with the parts timed."""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from graders.author.bench import progress
from graders.faults import ROOT
from graders.grade import add_commands
from graders.judge import card
from graders.judge.vectors import TestVectors
from graders.sandbox import dialogue

WAITING = "waiting for workers"
TELL = "import time; start = time.perf_counter(); from graders.author.bench import breakdown; breakdown.tell(start)"


def show(console: Console, root: Path) -> None:
    progress.tell("where one judge's time goes: grade --reference --workers 1")
    done = subprocess.run([sys.executable, "-c", TELL], cwd=root, capture_output=True, text=True, check=True)
    parts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    total = sum(parts.values())
    made = card.table("where one judge's time goes, all katas.", "seconds", "share")
    for part, seconds in parts.items():
        made.add_row(part, f"{seconds:.2f}", f"{seconds / total:.0%}")
    console.print(made)
    graded = total - parts["imports"]
    own = graded - parts[WAITING] - parts["oracle"]
    console.print(f"of the time without imports, {own / graded:.0%} is the judge's own work (goal: 30%)")


def tell(start: float) -> None:
    """Grades all references and prints, as JSON, the seconds that each part took without the parts inside it."""
    from graders.grade import main as grade  # all that a run imports
    from graders.kata import compare
    from graders.worker import wire

    parts = dict.fromkeys(
        ("imports", "start of workers", "inputs", "transfer", WAITING, "oracle", "comparison", "report"), 0.0
    )
    parts["imports"] = time.perf_counter() - start
    inside: list[float] = [0.0]

    def timed(owner: Any, name: str, part: str) -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            began = time.perf_counter()
            inside.append(0.0)
            try:
                return function(*arguments, **keywords)
            finally:
                took = time.perf_counter() - began
                parts[part] += took - inside.pop()
                inside[-1] += took

        setattr(owner, name, wrapper)

    timed(grade, "new_launchers", "start of workers")
    timed(dialogue.WorkerProcess, "__init__", "start of workers")
    timed(dialogue.WorkerProcess, "meet", "start of workers")
    timed(dialogue.WorkerProcess, "stop", "start of workers")
    timed(TestVectors, "_arguments", "inputs")
    timed(TestVectors, "_request", "inputs")
    timed(TestVectors, "_expected", "oracle")
    for name in ("pack", "unpack", "send"):
        timed(wire, name, "transfer")
    timed(wire, "read", WAITING)
    timed(compare, "close", "comparison")
    timed(card.Reporter, "__call__", "report")
    began = time.perf_counter()
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers())
    grade.main(parser.parse_args(["grade", "--reference", "--device", "cpu", "--workers", "1"]), ROOT)
    parts["pytest and the rest"] = time.perf_counter() - began - inside[0]
    print(json.dumps(parts))

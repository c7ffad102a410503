"""Where one judge's time goes: grades all references in a process of its own, with the parts timed."""

from __future__ import annotations

import functools
import json
import mmap
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from graders import card, dialogue, processes
from graders.exam import Exam

WAITING = ("waiting: the worker's part", "waiting: submission and reference")
DOUBLE = struct.Struct("d")
TELL = "import time; start = time.perf_counter(); from graders.bench import breakdown; breakdown.tell(start)"


def show(console: Console, root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TELL], cwd=root, capture_output=True, text=True, check=True)
    parts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    total = sum(parts.values())
    made = card.table("where one judge's time goes, all katas.", "seconds", "share")
    for part, seconds in parts.items():
        made.add_row(part, f"{seconds:.2f}", f"{seconds / total:.0%}")
    console.print(made)
    graded = total - parts["imports"]
    own = graded - sum(parts[part] for part in (*WAITING, "oracle"))
    console.print(f"without imports, {own / graded:.0%} are neither waiting for a worker nor the oracle's (goal: 30%)")


def tell(start: float) -> None:
    """Grades all references and prints, as JSON, the seconds that each part took without the parts inside it."""
    from graders import __main__, compare, exam, grade, messages, plugin, submission, wire, worker  # noqa: F401

    parts = dict.fromkeys(
        ("imports", "start of workers", "inputs", "transfer", *WAITING, "oracle", "comparison", "report"), 0.0
    )
    parts["imports"] = time.perf_counter() - start
    inside: list[float] = [0.0]
    in_workers = mmap.mmap(-1, DOUBLE.size)  # seconds; workers are forked from here, and share it
    nested = False  # in a worker

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

    def timed_in_workers(name: str) -> None:
        function = getattr(worker, name)

        @functools.wraps(function)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            nonlocal nested
            if nested:
                return function(*arguments, **keywords)
            nested, began = True, time.perf_counter()
            try:
                return function(*arguments, **keywords)
            finally:
                nested = False
                DOUBLE.pack_into(in_workers, 0, DOUBLE.unpack_from(in_workers)[0] + time.perf_counter() - began)

        setattr(worker, name, wrapper)

    timed(processes, "launcher", "start of workers")
    timed(dialogue.Worker, "__init__", "start of workers")
    timed(dialogue.Worker, "meet", "start of workers")
    timed(dialogue.Worker, "stop", "start of workers")
    timed(Exam, "_arguments", "inputs")
    timed(Exam, "_request", "inputs")
    timed(Exam, "_expected", "oracle")
    for name in ("pack", "unpack", "send"):
        timed(wire, name, "transfer")
    timed(wire, "read", WAITING[0])
    timed(compare, "close", "comparison")
    timed(card.Reporter, "__call__", "report")
    for name in ("load", "build", "rehearse", "call_with", "pull_back"):
        timed_in_workers(name)
    began = time.perf_counter()
    __main__.main(["grade", "--reference", "--device", "cpu", "--workers", "1"])
    parts["pytest and the rest"] = time.perf_counter() - began - inside[0]
    parts[WAITING[1]] = DOUBLE.unpack_from(in_workers)[0]
    parts[WAITING[0]] -= parts[WAITING[1]]
    print(json.dumps(parts))

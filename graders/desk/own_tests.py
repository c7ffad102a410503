"""The candidate's own tests, run in a worker of their own, caged like every submission. What comes back is text."""

from __future__ import annotations

import ast
import re
import signal
import traceback
from dataclasses import dataclass
from pathlib import Path

from graders.catalogue.katas import Kata
from graders.catalogue.source import read_source
from graders.faults import UsageError
from graders.sandbox.dialogue import CallTimedOut, WorkerEnded, WorkerProcess
from graders.sandbox.launcher import Launcher, ending
from graders.worker import wire
from graders.worker.script import LENGTH
from graders.worker.visible import WHOLE, visible

LIMIT_SECONDS = 30.0
SPARE_SECONDS = 10.0  # for a worker to start, and to end what is late
LONGEST_LINE = 400
MOST_LINES = 60
FIRST_LINES = 15  # of those that are shown where there are more

TEMPLATE = '''"""My own tests of {kata}."""

import torch

from {kata} import {names}


def test_an_example_worked_by_hand():
    # got = {name}(...)
    # assert torch.allclose(got, torch.tensor(...))
    raise NotImplementedError("write an example whose result you know")
'''


@dataclass(frozen=True)
class Ran:
    """What a script printed, and how it ended, in words."""

    text: str
    passed: bool
    ending: str


def run(launcher: Launcher, answer: Path, script: Path, width: int) -> Ran:
    """Runs the script, or its tests, with the answer at hand. Raises: UsageError."""
    files = dict(map(readable, (answer, script)))
    for name, text in files.items():
        try:
            ast.parse(text, name)
        except SyntaxError as error:
            text = visible("".join(traceback.format_exception_only(error)))
            return Ran(text.strip("\n"), False, f"was not run, since {name} cannot be read")
        except (ValueError, RecursionError, MemoryError):
            pass  # Python itself says what is wrong
    return started(launcher, files, script.name, LIMIT_SECONDS, width)


def beside(answer: Path) -> Path:
    """Where tests of one's own are, unless another file is named."""
    return answer.with_name(f"{answer.stem}_test.py")


def template(kata: Kata) -> str:
    """A first file of tests."""
    names = [answer.name for answer in kata.grader.answers]
    return TEMPLATE.format(kata=kata.id, names=", ".join(names), name=names[0])


def readable(path: Path) -> tuple[str, str]:
    """The file's name and its text. Raises: UsageError."""
    if not re.fullmatch(r"\w+\.py", path.name):
        raise UsageError(
            f"{path.name} cannot be run: name a Python file whose name has only letters, digits and underscores"
        )
    source = read_source(path, path.name)
    if source.unreadable:
        raise UsageError(f"{source.shown} {source.unreadable}")
    return source.shown, source.text


def started(launcher: Launcher, files: dict[str, str], main: str, limit: float, width: int) -> Ran:
    """Raises: UsageError."""
    message = wire.pack({"op": "script", "files": files, "main": main, "limit": limit, "width": width}, [])
    if len(message) > wire.LONGEST_HEADER:
        raise UsageError(f"{' and '.join(files)} are too long to be run; shorten them")
    worker = WorkerProcess(launcher, main, limit + SPARE_SECONDS)
    try:
        reply, _ = worker.ask(message)
    except CallTimedOut:
        return Ran("", False, "did not end, and was stopped")
    except WorkerEnded as death:
        return Ran("", False, str(death))
    worker.stop()
    try:
        return ran(str(reply["text"]), None if reply["status"] is None else int(reply["status"]), limit)
    except (KeyError, TypeError, ValueError):
        return Ran("", False, "returned something that cannot be read as a result")


def ran(text: str, status: int | None, limit: float) -> Ran:
    if status is None:
        return Ran(shortened(text), False, f"did not end within {limit:g} s, and was stopped")
    if -status in {*signal.Signals}:
        return Ran(shortened(text), False, ending(status))
    return Ran(shortened(text), status == 0, f"failed (exit status {status})" if status else "passed")


def shortened(text: str) -> str:
    lines = [line[:LONGEST_LINE] for line in visible(text[: 2 * LENGTH].expandtabs(4), WHOLE).strip("\n").splitlines()]
    if len(lines) > MOST_LINES:
        left_out = len(lines) - MOST_LINES
        lines[FIRST_LINES : FIRST_LINES + left_out] = [f"… {left_out:,} lines are left out …"]
    return "\n".join(lines)

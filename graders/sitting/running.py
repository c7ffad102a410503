"""A command of every sitting: run tests of one's own beside the answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graders.desk import attempts, own_tests
from graders.faults import UsageError
from graders.sitting.interrupts import stoppable
from graders.sitting.sitting import Sitting

WHICH = "FILE, else the file that you ran last, else KATA_test.py"


def run(sitting: Sitting[Any], argument: str) -> None:
    try:
        script = tests_file(sitting, argument)
        missing = not script.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a home that nobody has
        raise UsageError(f"{argument} cannot be run ({error}); name your file of tests") from None
    if missing and argument:
        raise UsageError(f"{argument} does not exist; name your file of tests, or type `run` alone")
    if missing:
        offer(sitting, script)
        return
    with sitting.terminal.waiting(f"running {script.name}"), stoppable(sitting.judge):
        ran = own_tests.run(sitting.judge.launcher, sitting.file, script, sitting.terminal.console.width)
    if ran.text:
        sitting.terminal.printed(ran.text)
    sitting.say(f"{script.name}: {ran.ending}")
    sitting.note("run", file=str(script), passed=ran.passed)


def tests_file(sitting: Sitting[Any], name: str) -> Path:
    """As it was named, or beside the answer; by default the last one."""
    folder = sitting.file.parent
    if not name:
        return Path(sitting.report.runs[-1][0]) if sitting.report.runs else own_tests.beside(sitting.file)
    given = Path(name).expanduser().absolute()
    return folder / name if (folder / name).exists() and not given.exists() else given


def offer(sitting: Sitting[Any], script: Path) -> None:
    """A first file of tests. Raises: UsageError."""
    shown = os.path.relpath(script, sitting.kata.root)
    if not sitting.confirm(f"{shown} is not there yet. Write a small file of tests to start from?"):
        sitting.say("write one of your own, and name it: run FILE")
        return
    attempts.write(script, own_tests.template(sitting.kata))
    sitting.say(f"wrote {shown}: put your examples in, then `run`")

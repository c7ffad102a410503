"""`%%kata KATA` in a notebook: runs the cell as usual, and has it judged elsewhere.

What a cell defines lives in the kernel's process, where it could change anything. So this side only starts a judge
(see cell.py) and shows what that wrote; it imports nothing but the standard library and IPython.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn, Protocol

from IPython.core.error import UsageError

from graders import faults
from graders.catalogue import katas
from graders.faults import ROOT

NEEDED = ("torch", "numpy", "pytest", "pytest_timeout", "rich")  # by the judge
FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE")  # a kernel sets some of them
PATIENCE_SECONDS = 10  # for a judge that is told to stop


class Shell(Protocol):
    """What is used of IPython's shell, most of which has no types."""

    events: Any
    display_pub: Any

    def register_magic_function(self, func: Any, magic_kind: Any, magic_name: str | None) -> None: ...
    def run_cell(self, raw_cell: str) -> Any: ...


def load(shell: Shell) -> None:
    def kata(line: str, cell: str) -> None:
        """Runs the cell, then judges it as an answer to a kata: %%kata KATA [-k EXPR] [--seed N]

        The judge is a process of its own and sees this cell alone: put its imports into it.

        KATA      the name of a kata's folder
        -k EXPR   only the checks whose names match, as in pytest
        --seed N  other inputs
        """
        run(shell, line, cell)

    shell.register_magic_function(kata, "cell", "kata")


def run(shell: Shell, line: str, cell: str) -> None:
    """Raises: UsageError, which IPython shows as a sentence."""
    arguments, python = parsed(line), find_python()
    text = f"# %%kata {line}\n{cell}"  # so that lines are counted as the notebook counts them
    ran = shell.run_cell(text)
    error = ran.error_before_exec or ran.error_in_exec
    if not isinstance(error, KeyboardInterrupt):
        shell.display_pub.publish(judged(python, arguments, text))
    if error:
        fail(shell, error)


class Parser(argparse.ArgumentParser):
    """One that never ends the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; type %%kata KATA [-k EXPR] [--seed N]")


def parsed(line: str) -> list[str]:
    """The arguments for the judge, looked at. Raises: UsageError."""
    parser = Parser(add_help=False)
    parser.add_argument("kata", nargs="?")
    parser.add_argument("-k", default="")
    parser.add_argument("--seed", type=int)
    try:
        options = parser.parse_args(shlex.split(line))
        if not options.kata:
            names = ", ".join(kata.id for kata in katas.all_katas())
            raise UsageError(f"which kata does this cell answer? Type %%kata KATA; there are: {names}")
        made = [katas.find_one(options.kata).id]
    except (faults.UsageError, ValueError) as error:
        raise UsageError(str(error)) from None
    if options.k:
        made += ["-k", options.k]
    if options.seed is not None:
        made += ["--seed", str(options.seed)]
    return made


def find_python() -> str:
    """One that can judge: the clone's, whose torch is the graders', else the kernel's. Raises: UsageError."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (ROOT / ".venv" / place).exists():
            return str(ROOT / ".venv" / place)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return sys.executable
    raise UsageError(
        f"the judge needs {', '.join(missing)}: run `nox -s grade` once in {ROOT}, or "
        f"`%pip install {' '.join(missing).replace('_', '-')}` here"
    )


def judged(python: str, arguments: list[str], text: str) -> dict[str, Any]:
    """What to show, by MIME type. Raises: UsageError where there is no verdict."""
    environment = {name: value for name, value in os.environ.items() if name not in FORCED}
    with tempfile.TemporaryDirectory(prefix="kata-cell-") as folder:
        (Path(folder) / "cell.py").write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [python, "-m", "graders.notebook.cell", folder, *arguments],
            cwd=ROOT,
            env=environment | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # the stop button reaches it once, through us
        )
        try:
            said = process.communicate()[1].strip()
        except KeyboardInterrupt:
            raise UsageError("interrupted: nothing was judged") from None
        finally:
            stop(process)
        card = Path(folder) / "card.json"
        if not card.exists():
            last = said.splitlines()[-1] if said else f"the judge ended with exit status {process.returncode}"
            raise UsageError(re.sub(r"^.*?\berror: ", "", last, flags=re.IGNORECASE))
        if said:
            print(said, file=sys.stderr)
        shown: dict[str, Any] = json.loads(card.read_text(encoding="utf-8"))
        return shown


def stop(process: subprocess.Popen[str]) -> None:
    """Has a judge that still runs clear up and end; ends it where it does not."""
    try:
        if process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.terminate() if sys.platform == "win32" else process.send_signal(signal.SIGINT)
                process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()


def fail(shell: Shell, error: BaseException) -> None:
    """Ends the cell as one that raised `error`, whose traceback is shown already."""

    def mark(result: Any) -> None:
        shell.events.unregister("post_run_cell", mark)
        result.error_in_exec = error

    shell.events.register("post_run_cell", mark)

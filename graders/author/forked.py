"""Runs commands in processes that are forked where torch is imported already: importing it takes more than a second.

Where forking torch is unsafe or impossible, they are spawned.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from graders.faults import ROOT
from graders.sandbox.launcher import forks

WARM: Any = multiprocessing.get_context("forkserver" if forks() else "spawn")
if forks():  # what `grade` imports, with torch and pytest, and no more: it is what a submission finds imported
    WARM.set_forkserver_preload(["graders.__main__", "graders.grade.main", "graders.grade.session"])
Main = Callable[[list[str], Path], int]  # of arguments and the repository; gives the exit status


class Ran(NamedTuple):
    """How a command ended, and what it told."""

    status: int
    out: str
    err: str


def run(main: Main, arguments: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> Ran:
    """Runs it piped. Raises: EOFError where its process ended without a status."""
    told, tell = WARM.Pipe(duplex=False)
    given = (tell, main, [*arguments], root, {**(os.environ if environment is None else environment)})
    process = WARM.Process(target=be_command, args=given)
    process.start()
    tell.close()
    try:
        ran: Ran = told.recv()
    except BaseException:
        process.kill()
        raise
    finally:
        process.join()
        told.close()
    return ran


def be_command(tell: Connection, main: Main, arguments: list[str], root: Path, environment: dict[str, str]) -> None:
    """What its process does."""
    gc.freeze()  # what was imported is no garbage
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
        try:
            status = main(arguments, root)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 0
        tell.send(Ran(status, read(out), read(err)))


def read(file: io.BufferedRandom) -> str:
    file.seek(0)
    return file.read().decode()

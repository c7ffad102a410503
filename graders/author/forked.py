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


def run(
    main: Main, arguments: Sequence[str], root: Path, environment: Mapping[str, str] | None = None, said: str = ""
) -> Ran:
    """Runs it piped, where `said` is what it reads. Raises: EOFError where its process ended without a status."""
    told, tell = WARM.Pipe(duplex=False)
    given = (tell, main, [*arguments], root, {**(os.environ if environment is None else environment)}, said)
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


def be_command(
    tell: Connection, main: Main, arguments: list[str], root: Path, environment: dict[str, str], said: str
) -> None:
    """What its process does."""
    gc.freeze()  # what was imported is no garbage
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(said.encode())
        given.seek(0)
        for number, file in enumerate((given, out, err)):
            os.dup2(file.fileno(), number)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding="utf-8", write_through=True)
            for number in (1, 2)
        )
        try:
            status = main(arguments, root)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 0
        tell.send(Ran(status, read(out), read(err)))


def read(file: io.BufferedRandom) -> str:
    file.seek(0)
    return file.read().decode()

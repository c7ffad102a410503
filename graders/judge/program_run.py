"""Runs the script of a program as a learner does, in a process of its own, or many of our own in this one."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from graders.catalogue.bugs import Bug, planted, right_file
from graders.catalogue.programs import Output, Program

LOOK_SECONDS = 0.1  # between two looks at whether a run is to be stopped


def run(
    folder: Path,
    script: str,
    told: Callable[[str], None] = lambda line: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Output:
    """Each line that it prints is told as it comes. It is ended once `stopped` says so."""
    process = subprocess.Popen(
        [sys.executable, "-u", script],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "PYTHONNODEBUGRANGES": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C is heard here
    )
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            if stopped():
                process.kill()
                return

    thread = threading.Thread(target=watch)
    thread.start()
    lines = []
    try:
        with process:
            for line in process.stdout or ():
                lines.append(line)
                told(line.rstrip("\n"))
    finally:
        ended.set()
        thread.join()
        if process.poll() is None:
            process.kill()
            process.wait()
    return Output("".join(lines), process.returncode)


def with_bugs(program: Program, bugs: Mapping[str, Sequence[Bug]]) -> dict[str, str]:
    """All files of the program by their names, with these bugs in its parts."""
    texts = {f"{part.id}.py": planted(right_file(part), bugs.get(part.id, ())) for part in program.parts}
    return texts | {program.script: program.script_text}


def run_texts(texts: Mapping[str, str], script: str) -> Output:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return run(Path(folder), script)


def run_here(texts: Mapping[str, str], script: str, seed: int) -> Output:
    """In this process, which has torch imported already; for files of our own alone."""
    printed, status = io.StringIO(), 0
    before, modules, path, arguments = Path.cwd(), set(sys.modules), [*sys.path], sys.argv
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    with tempfile.TemporaryDirectory() as folder, torch.random.fork_rng(devices=[]):
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        sys.path.insert(0, folder)
        sys.argv = [script, str(seed)]
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(Path(folder) / script), run_name="__main__")
        except Exception as error:
            own = error.__traceback__
            while own and own.tb_next and not own.tb_frame.f_code.co_filename.startswith(folder):
                own = own.tb_next  # as if the script had been started by itself
            traceback.print_exception(error.with_traceback(own), file=printed)
            status = 1
        finally:
            os.chdir(before)
            sys.path[:], sys.argv, sys.dont_write_bytecode = path, arguments, written
            for name in {Path(one).stem for one in texts} & set(sys.modules) - modules:
                del sys.modules[name]
    return Output(printed.getvalue(), status)

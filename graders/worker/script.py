"""Runs in the worker process: a script of the learner's own, in a process below it. Nothing is judged by it."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from graders.worker.protocol import Reply, ScriptRequest

LENGTH = 16_000  # bytes of what it prints, half of them from the start and half from the end
GRACE_SECONDS = 2.0  # in which a late one may say where it was
PYTEST = ("-m", "pytest", "-q", "-s", "--no-header", "--tb=short", "--color=no", "-p", "no:cacheprovider")
ENVIRONMENT = {
    "NO_COLOR": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
}


def run(request: ScriptRequest, log: int) -> Reply:
    """What the script printed to `log`, and its exit status: None where it took too long.

    The working directory takes its files. With tests in it and pytest at hand, those are run.
    """
    for name, source in request["files"].items():
        Path(name).write_text(source, encoding="utf-8")
    Path("pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # else one would be looked for above
    tested = has_tests(request["files"][request["main"]]) and importlib.util.find_spec("pytest")
    process = subprocess.Popen(
        [sys.executable, *(PYTEST if tested else ()), request["main"]],
        env=os.environ | ENVIRONMENT | {"COLUMNS": str(request["width"])},
    )
    status = None
    try:
        status = process.wait(request["limit"])
    except subprocess.TimeoutExpired:
        if sys.platform != "win32":  # there, it would reach all that the terminal runs, the judge as well
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
        process.kill()
        process.wait()
    return {"text": text_of(log).replace(os.getcwd() + os.sep, ""), "status": status}


def has_tests(source: str) -> bool:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        (isinstance(one, functions) and one.name.startswith("test"))
        or (isinstance(one, ast.ClassDef) and one.name.startswith("Test"))
        for one in body
    )


def text_of(log: int) -> str:
    size = os.fstat(log).st_size
    os.lseek(log, 0, os.SEEK_SET)
    if size <= LENGTH:
        return os.read(log, LENGTH).decode(errors="replace")
    start = os.read(log, LENGTH // 2)
    os.lseek(log, size - LENGTH // 2, os.SEEK_SET)
    return (start + b"\n[...]\n" + os.read(log, LENGTH // 2)).decode(errors="replace")

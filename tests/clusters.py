"""Dask's own programs, as a class is judged by several machines: each ends with the test that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys

from graders.faults import ROOT

Process = subprocess.Popen[bytes]
Shared = tuple[str, str]  # arguments: a class is judged by a worker that all tests share


def scheduler(stack: contextlib.ExitStack) -> tuple[str, Process]:
    """Its address, and its process."""
    address = f"tcp://127.0.0.1:{free_port()}"
    return address, start(stack, "scheduler", "--host", address, "--no-dashboard")


def worker(stack: contextlib.ExitStack, address: str, *more: str) -> Process:
    return start(stack, "worker", address, "--nthreads", "1", "--memory-limit", "0", "--no-dashboard", *more)


def start(stack: contextlib.ExitStack, *arguments: str) -> Process:
    command = [sys.executable, "-m", "dask", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    stack.callback(end, process)
    return process


def end(process: Process) -> None:
    """As a machine ends whose plug is pulled: with all that it runs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])

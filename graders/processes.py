"""Starts and stops worker processes: forked from a server that has torch loaded, or spawned where fork does not exist.

The fork server is forked off the judge before the judge imports a grader or runs a threaded operator, so its memory
holds no oracle and torch's thread pool still works in its children. It does hold the options of the run, the seed too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from graders import wire, worker

ROOT = Path(__file__).resolve().parent.parent
MEMORY = 4 << 30  # what a worker may allocate beyond what it was forked with
FILE_SIZE = 64 << 20
START_SECONDS = 120  # a spawned worker imports torch first


class Died(Exception):
    """The worker is gone; the message says how it ended, in words."""


class TimedOut(Exception):
    """The worker took too long; `line` is the line of the submission that it was on, if known."""

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


class Launcher(Protocol):
    """How workers are started and stopped on this platform."""

    def start(self, connection: socket.socket, scratch: str) -> int: ...
    def stop(self, pid: int) -> str: ...
    def close(self) -> None: ...


def launcher() -> Launcher:
    """`GRADERS_START_METHOD=spawn` forces what Windows and macOS (where forking torch is unsafe) get anyway."""
    method = os.environ.get("GRADERS_START_METHOD")
    if method == "spawn" or not hasattr(os, "fork") or sys.platform == "darwin":
        return Spawn()
    return ForkServer()


class ForkServer:
    """The judge's end of the server that forks workers."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            try:
                run_server(theirs)
            finally:
                os._exit(0)
        theirs.close()

    def start(self, connection: socket.socket, scratch: str) -> int:
        socket.send_fds(self.control, [wire.LENGTHS.pack(1, 0)], [connection.fileno()])
        self.control.sendall(scratch.encode() + b"\n")
        return self.reply()

    def stop(self, pid: int) -> str:
        self.control.sendall(wire.LENGTHS.pack(0, pid))
        return ending(os.waitstatus_to_exitcode(self.reply()))

    def reply(self) -> int:
        number: int = wire.LENGTHS.unpack(wire.read(self.control, wire.LENGTHS.size, None))[0]
        return number

    def close(self) -> None:
        self.control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def run_server(control: socket.socket) -> None:
    """Forks a worker for each connection that arrives; ends them all when the judge hangs up."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, control.fileno())
    os.closerange(control.fileno() + 1, 4096)
    children: set[int] = set()
    while True:
        message, fds, _, _ = socket.recv_fds(control, wire.LENGTHS.size, 1)
        if len(message) < wire.LENGTHS.size:
            break
        kind, pid = wire.LENGTHS.unpack(message)
        if kind:
            scratch = b""
            while not scratch.endswith(b"\n"):
                scratch += control.recv(1)
            pid = os.fork()
            if not pid:
                control.close()
                be_worker(socket.socket(fileno=fds[0]), scratch.decode().rstrip("\n"))
            os.close(fds[0])
            children.add(pid)
            control.sendall(wire.LENGTHS.pack(pid, 0))
        else:
            children.discard(pid)
            control.sendall(wire.LENGTHS.pack(end(pid), 0))
    for pid in children:
        end(pid)


def end(pid: int) -> int:
    """Kills the worker and what it started, and returns the status that it had ended with, or now ends with."""
    done, status = os.waitpid(pid, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    return status if done else os.waitpid(pid, 0)[1]


def be_worker(connection: socket.socket, scratch: str) -> None:
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        limit_resources()
        worker.serve(connection, scratch, str(ROOT))
        code = 0
    finally:
        os._exit(code)


def limit_resources() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    with contextlib.suppress(OSError, ValueError):  # no /proc, or a lower limit is set already
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class Spawn:
    """Starts every worker anew, which imports torch again."""

    def __init__(self) -> None:
        self.processes: dict[int, Any] = {}

    def start(self, connection: socket.socket, scratch: str) -> int:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=worker.serve, args=(connection, scratch, str(ROOT)), daemon=True)
        process.start()
        assert process.pid is not None
        self.processes[process.pid] = process
        return process.pid

    def stop(self, pid: int) -> str:
        process = self.processes.pop(pid)
        process.join(0.1)
        process.kill()
        process.join()
        return ending(process.exitcode)

    def close(self) -> None:
        for pid in list(self.processes):
            self.stop(pid)


def ending(code: int | None) -> str:
    """An exit code in words, signals by name."""
    if code is None or code >= 0:
        return f"ended its process with exit status {code}"
    return f"was ended by {signal.Signals(-code).name} ({signal.strsignal(-code)})"


class Worker:
    """One worker process with a scratch folder of its own."""

    def __init__(self, launcher: Launcher, path: str, limit: float) -> None:
        """`path` names the submission, `limit` is the seconds that each message may take."""
        self.launcher = launcher
        self.path = path
        self.limit = limit
        self.start_seconds = START_SECONDS if isinstance(launcher, Spawn) else 0
        self.scratch = tempfile.TemporaryDirectory(prefix="kata-", ignore_cleanup_errors=True)
        self.connection, theirs = socket.socketpair()
        self.pid = launcher.start(theirs, self.scratch.name)
        theirs.close()

    def ask(self, message: bytes) -> tuple[Any, list[Tensor]]:
        """Raises: TimedOut, Died; the worker is stopped then, and cannot be asked again."""
        deadline = time.monotonic() + self.start_seconds + self.limit + 0.5
        self.start_seconds = 0
        try:
            wire.send(self.connection, message, deadline)
            return wire.receive(self.connection, deadline)
        except TimeoutError:
            line = self.line_it_was_on()
            self.stop()
            raise TimedOut(line) from None
        except wire.Malformed as error:
            self.stop()
            raise Died(f"sent what the judge cannot read: {error}") from None
        except wire.Closed:
            raise Died(self.stop()) from None

    def line_it_was_on(self) -> int | None:
        prefix = f'File "{self.path}", line '
        with contextlib.suppress(OSError):
            for line in (Path(self.scratch.name) / "stack").read_text().splitlines():
                if line.strip().startswith(prefix):
                    return int(line.strip().removeprefix(prefix).split()[0])
        return None

    def stop(self) -> str:
        self.connection.close()
        how = self.launcher.stop(self.pid)
        self.scratch.cleanup()
        return how

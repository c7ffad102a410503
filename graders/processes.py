"""Starts and stops worker processes: forked from a server that has torch loaded, or spawned where fork does not exist.

The fork server is forked off the judge before the judge draws a seed, imports a grader or runs a threaded operator, so
its memory holds no oracle and torch's thread pool still works in its children. Where it can, it moves into a cage.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Protocol

from torch import Tensor

from graders import cage, wire, worker

ROOT = Path(__file__).resolve().parent.parent
LEVELS: tuple[cage.Level, ...] = ("none", "limits", "full")
LONGEST_STACK = 1 << 20  # characters
STACK_LOOKS = 300  # a hundredth of a second apart; on a busy machine the worker may take a while to run
MOST_OFFENCES = 100  # in one message
START_SECONDS = 120  # a spawned worker imports torch first
CREDENTIALS = struct.Struct("3i") if hasattr(socket, "SO_PASSCRED") else None  # pid, uid, gid of a message's sender


class Died(Exception):
    """The worker is gone; the message says how it ended, in words."""


class TimedOut(Exception):
    """The worker took too long; `line` is the line of the submission that it was on, if known."""

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


class Launcher(Protocol):
    """How workers are started and stopped on this platform, and how well they are shut in."""

    @property
    def isolation(self) -> cage.Level: ...
    def start(self, connection: socket.socket, stack: IO[str], scratch: str) -> int: ...
    def stop(self, pid: int) -> str: ...
    def close(self) -> None: ...


def launcher() -> Launcher:
    """`GRADERS_START_METHOD=spawn` forces what Windows and macOS (where forking torch is unsafe) get anyway."""
    return ForkServer() if forks() else Spawn()


def forks() -> bool:
    return os.environ.get("GRADERS_START_METHOD") != "spawn" and hasattr(os, "fork") and sys.platform != "darwin"


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

    @functools.cached_property
    def isolation(self) -> cage.Level:
        """The server's first message; the judge has other things to do until it comes."""
        return LEVELS[self.reply()]

    def start(self, connection: socket.socket, stack: IO[str], scratch: str) -> int:
        assert self.isolation  # it comes before what follows
        socket.send_fds(self.control, [wire.LENGTHS.pack(1, 0)], [connection.fileno(), stack.fileno()])
        self.control.sendall(scratch.encode() + b"\n")
        return self.reply()

    def stop(self, pid: int) -> str:
        self.control.sendall(wire.LENGTHS.pack(0, pid))
        return ending(os.waitstatus_to_exitcode(self.reply()))

    def reply(self) -> int:
        number: int = wire.LENGTHS.unpack(wire.read(self.control, wire.LENGTHS.size, None))[0]
        return number

    def close(self) -> None:
        assert self.isolation  # while it can still be told
        self.control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def run_server(control: socket.socket) -> None:
    """Serves in a cage where that can be made, else with limits alone."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, control.fileno())
    os.closerange(control.fileno() + 1, 4096)
    limited = cage.limits(caged=True)
    if os.environ.get("GRADERS_ISOLATION") == "limits" or not cage.enter(
        lambda start: serve(control, "full", start, limited)
    ):
        cage.adopt_orphans()
        serve(control, "limits", cage.start_limited, cage.limits(caged=False))


def serve(control: socket.socket, level: cage.Level, start: cage.Starter, limited: dict[str, int]) -> None:
    """Starts a worker for each connection that arrives; ends them all when the judge hangs up."""
    control.sendall(wire.LENGTHS.pack(LEVELS.index(level), 0))
    children: set[int] = set()
    while True:
        message, fds, _, _ = socket.recv_fds(control, wire.LENGTHS.size, 2)
        if len(message) < wire.LENGTHS.size:
            break
        kind, pid = wire.LENGTHS.unpack(message)
        if kind:
            scratch = b""
            while not scratch.endswith(b"\n"):
                scratch += control.recv(1)
            connection = socket.socket(fileno=fds[0])
            folder = cage.SCRATCH if level == "full" else scratch.decode().rstrip("\n")
            pid = start(functools.partial(be_worker, control, connection, fds[1], folder, limited), folder)
            connection.close()
            os.close(fds[1])
            children.add(pid)
            control.sendall(wire.LENGTHS.pack(pid, 0))
        else:
            children.discard(pid)
            control.sendall(wire.LENGTHS.pack(end(pid, children), 0))
    for pid in children:
        end(pid, set())


def end(pid: int, others: set[int]) -> int:
    """Kills the worker and what it started, and returns the status that it had ended with, or now ends with."""
    done, status = os.waitpid(pid, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)  # it may be too young to lead a group
    if not done:
        status = os.waitpid(pid, 0)[1]
    cage.end_orphans(others)
    return status


def be_worker(
    control: socket.socket, connection: socket.socket, stack: int, folder: str, limited: dict[str, int]
) -> None:
    control.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cage.set_limits(limited)
    worker.serve(connection, stack, folder, str(ROOT))


class Spawn:
    """Starts every worker anew, which imports torch again."""

    def __init__(self) -> None:
        self.processes: dict[int, Any] = {}
        self.isolation: cage.Level = "none" if sys.platform == "win32" else "limits"

    def start(self, connection: socket.socket, stack: IO[str], scratch: str) -> int:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=be_spawned, args=(connection, stack.name, scratch), daemon=True)
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


def be_spawned(connection: socket.socket, stack: str, scratch: str) -> None:
    if sys.platform != "win32":
        cage.set_limits(cage.limits(caged=False))
    worker.serve(connection, stack, scratch, str(ROOT))


def ending(code: int | None) -> str:
    """An exit code in words, signals by name; 128 + n is a shell's word for signal n, and a cage's keeper's."""
    if code is not None and code - 128 in {*signal.Signals}:
        code = 128 - code
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
        self.scratch = tempfile.TemporaryDirectory(prefix="kata-", ignore_cleanup_errors=True)
        self.offences: dict[str, int | None] = {}  # during the last message, with their lines
        self.stack = (Path(self.scratch.name) / "stack").open("w+")
        self.connection, theirs = socket.socketpair()
        if CREDENTIALS:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.met = False
        self.clock: int | None = None  # of the processor's time that it takes
        self.process: int | None = None  # as it is called here, where the launcher may know it by another number
        self.pid = launcher.start(theirs, self.stack, self.scratch.name)
        theirs.close()

    def seconds(self) -> float:
        """The processor's time that it took so far, a clock's where the system does not tell. Raises: Died."""
        try:
            return time.monotonic() if self.clock is None else time.clock_gettime(self.clock)
        except OSError:
            raise Died(self.stop()) from None

    def meet(self) -> None:
        """Waits for its first sign of life, sent before it has seen any of the submission, and finds its clock."""
        self.met = True
        self.connection.settimeout(START_SECONDS)
        if not CREDENTIALS:
            self.connection.recv(len(worker.READY))
            self.process = self.pid
            return
        _, sent, _, _ = self.connection.recvmsg(len(worker.READY), socket.CMSG_SPACE(CREDENTIALS.size))
        for _, _, content in sent:
            self.process = CREDENTIALS.unpack(content)[0]
            clock = ~self.process << 3 | 2  # as Linux numbers the clocks of processes
            with contextlib.suppress(OSError):
                time.clock_gettime(clock)
                self.clock = clock

    def ask(self, message: bytes) -> tuple[Any, list[Tensor]]:
        """Raises: TimedOut, Died; the worker is stopped then, and cannot be asked again."""
        self.offences = {}
        try:
            if not self.met:
                self.meet()
            deadline = time.monotonic() + self.limit + 0.5
            wire.send(self.connection, message, deadline)
            while True:
                header, tensors = wire.receive(self.connection, deadline)
                if not isinstance(header, dict) or len(self.offences) > MOST_OFFENCES:
                    raise wire.Malformed("no reply")
                if "offence" not in header:
                    return header, tensors
                self.note(header)
        except TimeoutError:
            line = self.line_it_was_on()
            self.stop()
            raise TimedOut(line) from None
        except wire.Malformed as error:
            self.stop()
            raise Died(f"sent what the judge cannot read: {error}") from None
        except wire.Closed:
            raise Died(self.stop()) from None

    def note(self, header: dict[str, Any]) -> None:
        """What the submission called although it may not, told at once: it can be neither unsaid nor forgotten."""
        name, line = str(header["offence"])[:100], header.get("line")
        self.offences[name] = line if isinstance(line, int) else self.offences.get(name)

    def line_it_was_on(self) -> int | None:
        prefix = f'File "{self.path}", line '
        with contextlib.suppress(OSError, ValueError):
            if worker.STACK_SIGNAL and self.process:
                os.kill(self.process, worker.STACK_SIGNAL)
            looks, text = STACK_LOOKS, ""
            while looks > 0:
                self.stack.seek(0)
                before, text = text, self.stack.read(LONGEST_STACK)
                looks -= STACK_LOOKS // 10 if text and text == before else 1  # it may be halfway through
                for line in text.splitlines():
                    number, whole, _ = line.strip().removeprefix(prefix).partition(" in ")
                    if whole and line.strip().startswith(prefix):
                        return int(number)
                time.sleep(0.01)
        return None

    def stop(self) -> str:
        self.connection.close()
        how = self.launcher.stop(self.pid)
        self.stack.close()
        self.scratch.cleanup()
        return how

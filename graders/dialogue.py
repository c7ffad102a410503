"""One worker as the judge speaks to it: messages with a time limit, offences, how it ended, its clock."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import tempfile
import time
from pathlib import Path
from typing import Any

from torch import Tensor

from graders import wire, worker
from graders.processes import Launcher
from graders.visible import visible

LONGEST_STACK = 1 << 20  # characters
STACK_SECONDS = 5.0  # on a busy machine the worker may take a while to say where it is
LONGEST_NAME = 100  # characters of an offence
GROWTH = 64  # times the bytes that were sent may come back, and
SPARE_BYTES = 16 << 20  # more: what is large may be made from little
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


class Worker:
    """One worker process with a scratch folder of its own."""

    def __init__(self, launcher: Launcher, path: str, limit: float) -> None:
        """`path` names the submission, `limit` is the seconds that each message may take."""
        self.launcher = launcher
        self.path = path
        self.limit = limit
        self.scratch = tempfile.TemporaryDirectory(prefix="kata-", ignore_cleanup_errors=True)
        self.offences: dict[str, int | None] = {}  # during the last message, with their lines
        self.connection, theirs = socket.socketpair()
        if CREDENTIALS:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.met = False
        self.clock: int | None = None  # of the processor's time that it takes
        self.process: int | None = None  # as it is called here, where the launcher may know it by another number
        where = Path(self.scratch.name) / "stack"
        with theirs, where.open("w") as stack:
            self.stack = where.open()  # to read through the one that is written to would move where the worker writes
            self.pid = launcher.start(theirs, stack, self.scratch.name)

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
            longest = GROWTH * len(message) + SPARE_BYTES
            wire.send(self.connection, message, deadline)
            while True:
                header, tensors = wire.receive(self.connection, deadline, longest)
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
        name, line = header["offence"], header.get("line")
        if not isinstance(name, str):
            raise wire.Malformed("no offence")
        name = visible(name, LONGEST_NAME)
        self.offences[name] = line if type(line) is int else self.offences.get(name)

    def line_it_was_on(self) -> int | None:
        prefix = f'File "{self.path}", line '
        with contextlib.suppress(OSError, ValueError):
            if worker.STACK_SIGNAL and self.process:
                os.kill(self.process, worker.STACK_SIGNAL)
            deadline = time.monotonic() + STACK_SECONDS
            while time.monotonic() < deadline:
                self.stack.seek(0)
                for line in self.stack.read(LONGEST_STACK).splitlines():
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

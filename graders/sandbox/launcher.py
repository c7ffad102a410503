"""Starts and stops worker processes: forked from a server that has torch loaded, or spawned where fork does not exist.

The fork server is forked off the judge before the judge draws a seed, imports a grader or runs a threaded operator, so
its memory holds no oracle and torch's thread pool still works in its children. Where it can, it moves into a cage.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import random
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from graders.sandbox import cage
from graders.sandbox.machine import keep_to, processors
from graders.sandbox.server import LEVELS, NUMBER, be_spawned, keep_servers
from graders.worker import wire
from graders.worker.serve import READY

PID_BITS = 32  # of a worker's number, the lower ones; those above say which server started it


class Launcher(Protocol):
    """How workers are started and stopped on this platform, and how well they are shut in."""

    @property
    def isolation(self) -> cage.Isolation: ...
    @property
    def processor(self) -> int | None: ...  # that its workers keep to, if to one

    cuda: bool  # whether its workers are to begin CUDA: set by who grades on a GPU

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int: ...
    def stop(self, pid: int) -> str: ...
    def close(self) -> None: ...


def new_launcher(processor: int | None = None) -> Launcher:
    """`GRADERS_START_METHOD=spawn` forces what Windows and macOS (where forking torch is unsafe) get anyway."""
    return ForkServer(processor) if forks() else Spawn()


def new_launchers(count: int) -> list[Launcher]:
    """For as many judges; each keeps to a processor with its workers, where there are enough.

    Judge and worker take turns, thousands of times. To wake each other up on another processor, which has gone to
    sleep meanwhile, takes about as long as a small call; nine katas took 7.3 s so, and 6.4 s now.
    """
    free = processors()
    if not 1 < count <= len(free):
        return [new_launcher() for _ in range(count)]
    return [new_launcher(processor) for processor in random.sample(free, count)]


def forks() -> bool:
    return os.environ.get("GRADERS_START_METHOD") != "spawn" and hasattr(os, "fork") and sys.platform != "darwin"


class ForkServer:
    """The judge's end of the server that forks workers, and of the keeper, which starts another where one has ended."""

    cuda = False

    def __init__(self, processor: int | None = None) -> None:
        self.processor = processor
        self.keeper, theirs = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            try:
                keep_to(processor)
                keep_servers(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.servers = 0  # that were started so far
        self.connect()

    def connect(self) -> None:
        """Has a server started. Raises: OSError."""
        self.control, theirs = socket.socketpair()
        self.level, telling = socket.socketpair()
        with theirs, telling:
            socket.send_fds(self.keeper, [READY], [theirs.fileno(), telling.fileno()])
        self.servers += 1

    def replace(self) -> None:
        """Has a server started in the place of one that does not answer. Raises: OSError, wire.Closed."""
        self.hang_up()
        self.connect()
        if self.told() != self.isolation:
            raise OSError(
                "the process that starts workers ended, and the new one could not be isolated as well as the old one"
            )

    @functools.cached_property
    def isolation(self) -> cage.Isolation:
        """The server tells it once it can start workers; until then the judge has other things to do."""
        return self.told()

    def told(self) -> cage.Isolation:
        """It stays to be read by all processes that have this launcher. Raises: OSError, wire.Closed."""
        level = self.level.recv(1, socket.MSG_PEEK)
        if not level:
            raise wire.Closed
        return LEVELS[level[0]]

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int:
        """Raises: OSError, wire.Closed where not even another server can."""
        assert self.isolation  # it comes before what follows
        message, fds = NUMBER.pack(0), [connection.fileno(), telling.fileno()]
        try:
            pid = self.exchange(message, fds, scratch)
        except (OSError, wire.Closed):
            self.replace()
            pid = self.exchange(message, fds, scratch)
        return self.servers << PID_BITS | pid

    def stop(self, pid: int) -> str:
        """Cannot fail: who asks has a result to tell."""
        server, pid = divmod(pid, 1 << PID_BITS)
        with contextlib.suppress(OSError, wire.Closed):
            if server == self.servers:  # another one's are its own, and may be called by the same numbers
                return ending(os.waitstatus_to_exitcode(self.exchange(NUMBER.pack(pid))))
        return "was ended together with the process that had started it"

    def exchange(self, message: bytes, fds: Sequence[int] = (), scratch: str = "") -> int:
        """Half of one, broken off by Ctrl-C or a timeout, is the server's last: its answer is that of no other."""
        try:
            socket.send_fds(self.control, [message], fds)
            self.control.sendall(scratch.encode() + b"\n" if scratch else b"")
            return self.reply()
        except BaseException:
            self.control.close()
            raise

    def reply(self) -> int:
        number: int = NUMBER.unpack(wire.read(self.control, NUMBER.size))[0]
        return number

    def hang_up(self) -> None:
        self.control.close()
        self.level.close()

    def close(self) -> None:
        with contextlib.suppress(OSError, wire.Closed):
            assert self.isolation  # while it can still be told
        self.hang_up()
        self.keeper.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class Spawn:
    """Starts every worker anew, which imports torch again."""

    processor = None
    cuda = False

    def __init__(self) -> None:
        self.processes: dict[int, Any] = {}
        self.isolation: cage.Isolation = "none" if sys.platform == "win32" else "limits"

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=be_spawned, args=(connection, telling, scratch), daemon=True)
        process.start()
        assert process.pid is not None
        self.processes[process.pid] = process
        return process.pid

    def stop(self, pid: int) -> str:
        process = self.processes.pop(pid, None)
        if process is None:
            return "was ended"
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

"""Starts and stops worker processes: forked from a server that has torch loaded, or spawned where fork does not exist.

The fork server is forked off the judge before the judge draws a seed, imports a grader or runs a threaded operator, so
its memory holds no oracle and torch's thread pool still works in its children. Where it can, it moves into a cage.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import multiprocessing
import os
import platform
import random
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from graders.faults import ROOT
from graders.sandbox import cage, system_calls
from graders.worker import wire
from graders.worker.fortress import sealed
from graders.worker.serve import COMPILER, READY

COMMAND = struct.Struct("!QQ")  # between judge and server
STOP = 0  # the first number of a message to the server; the second is a worker's pid
START = 1  # else; the second says whether it trains. Descriptors come with it, and after it a scratch folder's path
# Of glibc's mallopt: nothing is mapped for itself, the heap shrinks from 64 MiB on, and threads share it.
MAPPED_MOST, TRIMMED_FROM, HEAPS_MOST = -4, -1, -8
MEMORY_OPTIONS = {MAPPED_MOST: 0, TRIMMED_FROM: 64 << 20, HEAPS_MOST: 1}
HUGE, COLLAPSE = 14, 25  # madvise's words, the second since Linux 6.1
LARGE_PAGE = 2 << 20
ROOM = 64 << 20
PID_BITS = 32  # of a worker's number, the lower ones; those above say which server started it
LARGE_PAGES_FROM = 8  # workers: a run of one kata starts two or three
LEVELS: tuple[cage.Isolation, ...] = ("none", "limits", "full")
Work = Callable[[socket.socket, int, str], None]  # of a worker, with its connection, its pipe and its scratch folder


class Launcher(Protocol):
    """How workers are started and stopped on this platform, and how well they are shut in."""

    @property
    def isolation(self) -> cage.Isolation: ...
    @property
    def processor(self) -> int | None: ...  # that its workers keep to, if to one

    cuda: bool  # whether its workers are to begin CUDA: set by who grades on a GPU

    def start(self, connection: socket.socket, telling: int, scratch: str, trains: bool) -> int: ...
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


def processors() -> list[int]:
    """Those that this process may run on, where the system tells."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def keep_to(processor: int | None) -> None:
    """Keeps this process, and those that it forks, to one processor, if to any."""
    if processor is not None:
        os.sched_setaffinity(0, {processor})


def keep_freed_memory() -> None:
    """Has this process, and those that it forks, keep for the next tensor what a large one leaves.

    glibc gives it back, and two of five page faults of a run came from taking it again.
    """
    with contextlib.suppress(AttributeError):  # another C library
        for option, value in MEMORY_OPTIONS.items():
            ctypes.CDLL(None).mallopt(option, value)


def give_back_memory() -> None:
    """All that `keep_freed_memory` kept, and what garbage still holds."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def use_large_pages() -> None:
    """Moves this process's memory to large pages, where the system has such: a fork copies an entry for each page.

    One took 4.5 ms, and takes 1.3 so. A worker needs two of them, and what they have copied is freed when it ends.
    """
    with contextlib.suppress(OSError, AttributeError):  # another system
        libc = ctypes.CDLL(None)
        for line in Path("/proc/self/maps").read_text().splitlines():
            addresses, access, _, _, inode = line.split()[:5]
            start, end = (int(address, 16) for address in addresses.split("-"))
            if access.startswith("rw") and inode == "0":  # of no file
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), COLLAPSE)


def make_room() -> None:
    """Grows the heap by what workers keep, in large pages: one that was asked at large sizes took 12,000 small ones."""
    with contextlib.suppress(OSError, AttributeError):  # another system
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.mallopt(TRIMMED_FROM, MEMORY_OPTIONS[TRIMMED_FROM] + ROOM)
        room = libc.malloc(ctypes.c_size_t(ROOM))
        if room:
            libc.madvise(ctypes.c_void_p(room & -LARGE_PAGE), ctypes.c_size_t(ROOM), HUGE)
            libc.free(ctypes.c_void_p(room))


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
        with theirs:
            socket.send_fds(self.keeper, [READY], [theirs.fileno()])
        self.servers += 1

    def replace(self) -> None:
        """Has a server started in the place of one that does not answer. Raises: OSError, wire.Closed."""
        self.control.close()
        self.connect()
        if LEVELS[self.reply()] != self.isolation:
            raise OSError("what starts workers ended, and could not be shut in as well as before")

    @functools.cached_property
    def isolation(self) -> cage.Isolation:
        """The server's first message; the judge has other things to do until it comes."""
        return LEVELS[self.reply()]

    def start(self, connection: socket.socket, telling: int, scratch: str, trains: bool) -> int:
        """Raises: OSError, wire.Closed where not even another server can."""
        assert self.isolation  # it comes before what follows
        message, fds = COMMAND.pack(START, trains), [connection.fileno(), telling]
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
                return ending(os.waitstatus_to_exitcode(self.exchange(COMMAND.pack(STOP, pid))))
        return "was ended together with what had started it"

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
        number: int = COMMAND.unpack(wire.read(self.control, COMMAND.size))[0]
        return number

    def close(self) -> None:
        with contextlib.suppress(OSError, wire.Closed):
            assert self.isolation  # while it can still be told
        self.control.close()
        self.keeper.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def keep_servers(judge: socket.socket) -> None:
    """Runs a server for each connection that arrives, one after the other: the next comes where one has ended early."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, judge.fileno())
    os.closerange(judge.fileno() + 1, 4096)
    keep_freed_memory()
    make_room()
    limited = cage.limits(caged=True)
    cage.blank_command_line()
    platform.processor()  # asks a program, which a submission may not, and remembers
    work = prepared_worker()
    cage.adopt_orphans()
    while fds := socket.recv_fds(judge, len(READY), 1)[1]:
        with socket.socket(fileno=fds[0]) as control:
            run_server(control, limited, work)
        cage.end_orphans(set())


def run_server(control: socket.socket, limited: dict[str, int], work: Work) -> None:
    """Serves in a cage where that can be made, else with limits alone; both in processes below this one."""
    if os.environ.get("GRADERS_ISOLATION") == "limits" or not cage.serve_in_namespaces(
        lambda start: serve(control, "full", start, limited, work)
    ):
        pid = os.fork()
        if not pid:
            try:
                cage.adopt_orphans()
                serve(control, "limits", cage.start_limited, cage.limits(caged=False), work)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def prepared_worker() -> Work:
    """What a worker does, made before it is forked: that takes 10 ms."""
    passing = sealed.private_copy()
    stock = passing["fortress.removal"]["take_stock"]()  # first: what the copy that serves uses should stay
    known = passing["fortress.unneeded"]["take_away_unneeded"](stock)
    for namespace in passing.values():
        namespace.clear()
    return functools.partial(
        sealed.private_copy()["serve"]["serve"], stock=stock, known=known, shut=system_calls.forbid
    )


def serve(
    control: socket.socket, level: cage.Isolation, start: cage.Starter, limited: dict[str, int], work: Work
) -> None:
    """Starts a worker for each connection that arrives; ends them all when the judge hangs up."""
    sealed.forget_modules(ROOT)  # here: in each worker it would take 4 ms
    control.sendall(COMMAND.pack(LEVELS.index(level), 0))
    children: set[int] = set()
    started = 0
    while True:
        message, fds, _, _ = socket.recv_fds(control, COMMAND.size, 2)
        if len(message) < COMMAND.size:
            break
        kind, pid = COMMAND.unpack(message)
        if kind == START:
            if pid and COMPILER not in sys.modules:
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.sep  # it wants one, and may write nowhere
                with contextlib.suppress(Exception):  # then each worker tries for itself
                    importlib.import_module(COMPILER)
                work = prepared_worker()
            started += 1
            if started == LARGE_PAGES_FROM:
                use_large_pages()
            scratch = b""
            while not scratch.endswith(b"\n") and (one := control.recv(1)):
                scratch += one
            connection = socket.socket(fileno=fds[0])
            folder = cage.SCRATCH if level == "full" else scratch.decode().rstrip("\n")
            pid = start(functools.partial(be_worker, connection, fds[1], folder, limited, work), folder)
            connection.close()
            os.close(fds[1])
            children.add(pid)
            control.sendall(COMMAND.pack(pid, 0))
        else:
            known = pid in children
            children.discard(pid)
            control.sendall(COMMAND.pack(end(pid, children) if known else 0, 0))
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


def be_worker(connection: socket.socket, telling: int, folder: str, limited: dict[str, int], work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cage.set_limits(limited)
    work(connection, telling, folder)


class Spawn:
    """Starts every worker anew, which imports torch again."""

    processor = None
    cuda = False

    def __init__(self) -> None:
        self.processes: dict[int, Any] = {}
        self.isolation: cage.Isolation = "none" if sys.platform == "win32" else "limits"

    def start(self, connection: socket.socket, telling: int, scratch: str, trains: bool) -> int:
        context = multiprocessing.get_context("spawn")
        pipe = Connection(os.dup(telling), readable=False)  # which travels to a spawned process
        process = context.Process(target=be_spawned, args=(connection, pipe, scratch), daemon=True)
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


def be_spawned(connection: socket.socket, telling: Connection, scratch: str) -> None:
    limited = cage.limits(caged=False) if sys.platform != "win32" else {}
    platform.processor()
    work = prepared_worker()
    sealed.forget_modules(ROOT)
    be_worker(connection, telling.fileno(), scratch, limited, work)


def ending(code: int | None) -> str:
    """An exit code in words, signals by name."""
    if code is None or code >= 0:
        return f"ended its process with exit status {code}"
    return f"was ended by {signal.Signals(-code).name} ({signal.strsignal(-code)})"

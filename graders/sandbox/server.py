"""Forks workers, in processes that the judge forked before it drew a seed: see launcher.py, and the README's picture.

A keeper starts a server for each connection that the judge sends, and the server a worker for each that comes to it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import signal
import socket
import struct
import sys
from collections.abc import Callable

from graders.faults import ROOT
from graders.sandbox import cage, system_calls
from graders.sandbox.machine import keep_freed_memory, make_room, use_large_pages
from graders.worker.fortress.stock import take_stock
from graders.worker.fortress.unneeded import take_away_unneeded
from graders.worker.serve import READY, forget_modules, serve_submissions

# Between judge and server; which of LEVELS it has, the server says on a socket of its own. To the server: the pid of a
# worker that it should end; or 0, with two descriptors and then a scratch folder's path, for a new one.
NUMBER = struct.Struct("!Q")
LARGE_PAGES_FROM = 8  # workers: a run of one kata starts two or three
LEVELS: tuple[cage.Isolation, ...] = ("none", "limits", "full")
Work = Callable[[socket.socket, socket.socket, str], None]  # of a worker, with its two sockets and its scratch folder


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
    while fds := socket.recv_fds(judge, len(READY), 2)[1]:
        with socket.socket(fileno=fds[0]) as control, socket.socket(fileno=fds[1]) as level:
            run_server(control, level, limited, work)
        cage.end_orphans(set())


def run_server(control: socket.socket, level: socket.socket, limited: dict[str, int], work: Work) -> None:
    """Serves in a cage where that can be made, else with limits alone; both in processes below this one."""
    if os.environ.get("GRADERS_ISOLATION") == "limits" or not cage.serve_in_namespaces(
        lambda start: serve(control, level, "full", start, limited, work)
    ):
        pid = os.fork()
        if not pid:
            try:
                cage.adopt_orphans()
                serve(control, level, "limits", cage.start_limited, cage.limits(caged=False), work)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def prepared_worker() -> Work:
    """What a worker does, made before it is forked: that takes 10 ms."""
    stock = take_stock()
    take_away_unneeded(stock)
    return functools.partial(serve_submissions, stock=stock, shut=system_calls.forbid)


def serve(
    control: socket.socket,
    level: socket.socket,
    isolation: cage.Isolation,
    start: cage.Starter,
    limited: dict[str, int],
    work: Work,
) -> None:
    """Starts a worker for each connection that arrives; ends them all when the judge hangs up."""
    forget_modules(ROOT)  # here: in each worker it would take 4 ms
    level.sendall(bytes([LEVELS.index(isolation)]))
    children: set[int] = set()
    started = 0
    while True:
        message, fds, _, _ = socket.recv_fds(control, NUMBER.size, 2)
        if len(message) < NUMBER.size:
            break
        (pid,) = NUMBER.unpack(message)
        if not pid:
            started += 1
            if started == LARGE_PAGES_FROM:
                use_large_pages()
            scratch = b""
            while not scratch.endswith(b"\n") and (one := control.recv(1)):
                scratch += one
            connection, telling = (socket.socket(fileno=fd) for fd in fds)
            folder = cage.SCRATCH if isolation == "full" else scratch.decode().rstrip("\n")
            pid = start(functools.partial(be_worker, connection, telling, folder, limited, work), folder)
            connection.close()
            telling.close()
            children.add(pid)
            control.sendall(NUMBER.pack(pid))
        else:
            known = pid in children
            children.discard(pid)
            control.sendall(NUMBER.pack(end(pid, children) if known else 0))
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
    connection: socket.socket, telling: socket.socket, folder: str, limited: dict[str, int], work: Work
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cage.set_limits(limited)
    work(connection, telling, folder)


def be_spawned(connection: socket.socket, telling: socket.socket, scratch: str) -> None:
    limited = cage.limits(caged=False) if sys.platform != "win32" else {}
    platform.processor()
    work = prepared_worker()
    forget_modules(ROOT)
    be_worker(connection, telling, scratch, limited, work)

"""The cage that workers live in: namespaces of their own where Linux allows them, and limits always.

At level "full" a worker has no network, sees no process but its own, and finds no file but Python's (read-only) and
an empty scratch folder that vanishes with it: not the graders, the solutions, the learner's other files. Everything
that it starts dies with it. At level "limits" only the resource limits hold. See SECURITY.md.

README.md has the processes in one picture. `below` (`serve_below`) leaves the user's namespaces and waits for `first`;
where the system refuses, it ends with UNSUPPORTED, and the server goes on without. `first` builds a root folder with
Python alone, then starts and ends workers. A worker is process 1 of its own ids: when it ends, the kernel kills all
that it has started, and no signal ends it that it sends to itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import re
import secrets
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import torch

if sys.platform != "win32":
    import resource

from graders.faults import PACK, ROOT

Isolation = Literal["full", "limits", "none"]
Starter = Callable[[Callable[[], None], str], int]  # starts a process that does the work in the folder, gives its pid

MEMORY = 4 << 30  # bytes that a worker may allocate beyond what it was forked with
FILE_SIZE = 64 << 20  # bytes in one file
SCRATCH_SIZE = 64 << 20  # bytes in all files together, at level "full"
OPEN_FILES = 256
PROCESSES = 64  # and threads
PROCESSOR_SECONDS = 300  # in a worker's whole life
USERS = range(61184, 65519)  # systemd's range for users that exist only while a process does
SCRATCH = "/scratch"

# From the kernel's headers.
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NET = 0x20000, 0x4000000, 0x8000000, 1 << 28, 1 << 29, 1 << 30
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
ACCESS_TIMES = 1024 | 2048
DETACH = 2
UNSUPPORTED = 77  # an exit status: the system does not allow namespaces
NO_NEW_PRIVILEGES, SUBREAPER = 38, 36
CAPABILITY_VERSION = 0x20080522

# Beside Python itself: what shared libraries and torch look at.
SYSTEM = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/sys/devices/system/cpu"}
SYSTEM |= {f"/dev/{name}" for name in ("null", "zero", "random", "urandom")}


def system(name: str, *arguments: object) -> None:
    """Calls libc. Raises: OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    plain = [argument.encode() if isinstance(argument, str) else argument for argument in arguments]
    if getattr(libc, name)(*plain):
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    system("mount", source, target, kind, ctypes.c_ulong(flags), data)


def serve_in_namespaces(serve: Callable[[Starter], None]) -> bool:
    """Runs `serve` as the first process of namespaces of its own, and returns when that ended.

    False where the system does not allow that; nothing was served then.
    """
    below = os.fork()
    if not below:
        try:
            os._exit(serve_below(serve))
        finally:
            os._exit(UNSUPPORTED)
    return os.waitstatus_to_exitcode(os.waitpid(below, 0)[1]) != UNSUPPORTED


def serve_below(serve: Callable[[Starter], None]) -> int:
    """The exit status of the first process: UNSUPPORTED unless it has served. Raises: OSError, for the same."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0 and not may_become_another():
        return UNSUPPORTED
    system("unshare", (NEW_USERS if uid else 0) | NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NET)
    if uid:
        map_user(uid, gid)
    first = os.fork()
    if first:
        return abs(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    build_root()
    start = functools.partial(start_caged, own)
    if os.waitpid(start(lambda: None, SCRATCH), 0)[1]:  # the rest may be forbidden as well: better known now
        return UNSUPPORTED
    try:
        serve(start)
    finally:
        os._exit(0)


def build_root() -> None:
    """Makes a root with nothing but Python, read-only, and moves into it."""
    os.umask(0o022)
    mount("none", "/", None, RECURSIVE | PRIVATE)
    new = "/mnt" if os.path.isdir("/mnt") else "/tmp"  # nobody outside sees what is mounted over it
    mount("none", new, "tmpfs", NO_SUID, "mode=755")
    site = {str(Path(file).parents[1]) for file in (torch.__file__, os.__file__, os.path.realpath(sys.executable))}
    devices = {str(path) for path in Path("/dev").glob("nvidia*")}
    hidden = {str(ROOT), os.path.realpath(os.environ.get(PACK, ROOT))}
    wanted = {sys.prefix, sys.base_prefix, *site, *SYSTEM, *devices, *hidden}
    wanted |= {os.path.realpath(path) for path in wanted}
    for path in sorted(wanted, key=lambda path: len(Path(path).parts)):  # what is inside another comes after it
        target = new + path
        if path in hidden:
            if os.path.isdir(target):  # it lies in something that is shown
                mount("none", target, "tmpfs", NO_SUID | NO_DEV, "mode=755")
        elif os.path.islink(path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.path.realpath(path), target)
        elif os.path.exists(path) and not (os.path.exists(target) and os.path.samefile(path, target)):
            bind_mount(path, target)
    for folder in ("/proc", SCRATCH, "/old"):
        os.mkdir(new + folder)
    with contextlib.suppress(OSError):  # containers forbid it; nothing that a submission needs is there
        mount("proc", f"{new}/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
    for target in mounts_below(new):
        kept = os.statvfs(target).f_flag & (NO_SUID | NO_DEV | NO_EXEC | ACCESS_TIMES)  # these may not be lifted
        mount("none", target, None, REMOUNT | BIND | READ_ONLY | NO_SUID | kept)
    os.chdir(new)
    system("pivot_root", ".", "old")
    os.chdir("/")
    system("umount2", "/old", DETACH)


def bind_mount(path: str, target: str) -> None:
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    mount(path, target, None, BIND | RECURSIVE)


def mounts_below(folder: str) -> list[str]:
    """Mount points, with the octal escapes of the kernel's list undone."""
    lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    points = [re.sub(rb"\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), line.split()[4]) for line in lines]
    return [point.decode() for point in points if point.startswith(folder.encode()) and os.path.ismount(point)]


@functools.cache
def users() -> Iterator[int]:
    """From anywhere on: runs beside this one have workers, too, and processes are counted by user."""
    first = secrets.randbelow(len(USERS))
    return itertools.cycle([*USERS[first:], *USERS[:first]])


def map_user(uid: int, gid: int) -> None:
    """In a fresh user namespace: the user is called what it was called outside."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        Path(f"/proc/self/{name}").write_text(text)


def start_caged(own_pids: int, work: Callable[[], None], folder: str) -> int:
    """Starts a process that does the work as process 1 of a cage of its own, and returns its pid."""
    user, may = next(users()), may_become_another()
    system("unshare", NEW_PIDS)
    pid = os.fork()
    if pid:
        system("setns", own_pids, NEW_PIDS)  # the next one gets numbers of its own, too
        return pid
    status = 1
    try:
        os.setsid()
        system("unshare", NEW_MOUNTS | NEW_IPC | NEW_NET)
        mount("none", folder, "tmpfs", NO_SUID | NO_DEV | NO_EXEC, f"size={SCRATCH_SIZE},mode=1777")
        with contextlib.suppress(OSError):
            mount("proc", "/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
        drop_privileges(user, may, caged=True)
        work()
        status = 0
    finally:
        os._exit(status)


def start_limited(work: Callable[[], None], folder: str) -> int:
    """Starts a process that does the work, with what little can be taken from it."""
    user, may = next(users()), may_become_another(whole_path=True)
    if may:
        os.chown(folder, user, user)
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.setsid()
            drop_privileges(user, may, caged=False)
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def adopt_orphans() -> None:
    """Makes what workers leave behind children of this process, so that it can be found and ended."""
    if sys.platform == "linux":
        system("prctl", SUBREAPER, 1, 0, 0, 0)


def end_orphans(others: set[int]) -> None:
    """Ends the children of this process that are not among the others; in a cage there are none."""
    with contextlib.suppress(OSError):
        while found := {int(pid) for pid in Path("/proc/thread-self/children").read_text().split()} - others:
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def drop_privileges(user: int, may: bool, caged: bool) -> None:
    """For good: root becomes, if it `may`, a user whom nothing belongs to; others lose what made namespaces."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # where memory ends, the kernel should take this one
    if may:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    elif os.geteuid() and sys.platform == "linux":
        uid, gid = os.geteuid(), os.getegid()
        if caged and os.path.exists("/proc/self/uid_map"):
            system("unshare", NEW_USERS)  # where its processes are counted by themselves
            map_user(uid, gid)
        system("capset", struct.pack("Ii", CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6))
    if sys.platform == "linux":
        system("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)


@functools.cache  # before workers are forked, each of which would ask for every file anew
def may_become_another(whole_path: bool = False) -> bool:
    """Whether a worker of root's can still read Python as another user, by `whole_path` from the root folder down."""
    for file in (Path(torch.__file__), Path(os.__file__).resolve()):
        parents = file.parents if whole_path else [file.parent]
        if not file.stat().st_mode & 0o004 or not all(parent.stat().st_mode & 0o001 for parent in parents):
            return False
    return os.geteuid() == 0


def blank_command_line() -> None:
    """Blanks the memory that the system shows as this process's command line, and its children's: it says the seed."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end; the name before it was two fields
        if 0 < start < end:
            ctypes.memset(start, 0, end - start)


def size_now() -> int:
    """Bytes of address space that this process has, 0 where it cannot be told."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def threads_now(uid: int) -> int:
    """Threads that the user runs, this process's among them; 0 where it cannot be told."""
    count = 0
    for task in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            count += len(os.listdir(task)) if task.stat().st_uid == uid else 0
    return count


def limits(caged: bool) -> dict[str, int]:
    """By the names of the resource module. To be called before other processes are hidden."""
    limited = {"CORE": 0, "FSIZE": FILE_SIZE, "NOFILE": OPEN_FILES, "CPU": PROCESSOR_SECONDS}
    bytes_now = size_now()
    if bytes_now:
        kernel = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
        alone = os.geteuid() == 0 or (caged and kernel >= (5, 14))  # a user of its own, or counted by namespace
        gpu = any(Path("/dev").glob("nvidia[0-9]*"))  # CUDA reserves more addresses than there is memory
        limited["DATA" if gpu else "AS"] = bytes_now + MEMORY
        limited["NPROC"] = PROCESSES if alone else 4 * PROCESSES + threads_now(os.geteuid())  # with other workers
    return limited


def set_limits(limited: dict[str, int]) -> None:
    for name, limit in limited.items():
        with contextlib.suppress(OSError, ValueError):  # a lower one is set already
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))

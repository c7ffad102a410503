"""A filter in the kernel (seccomp) for what a worker may ask of it, once a submission is about to be read."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import sys

from graders.sandbox import cage

# What is refused, by the machine's numbers. Threads stay possible, other processes do not.
AUDIT_NUMBERS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
SOCKET = {"x86_64": 41, "aarch64": 198}
FAMILIES = (1, 2, 10, 16)  # of sockets that stay possible: those that end with a view of the network of one's own
CLONE3 = 435  # glibc goes back to clone without it
CALLS = {
    "x86_64": {
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "rt_sigaction": 13, "ptrace": 101,
        "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "semget": 64, "msgget": 68, "mq_open": 240,
        "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "unshare": 272, "setns": 308,
        "mount": 165, "keyctl": 250, "add_key": 248, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "io_uring_setup": 425, "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424,
        "pidfd_open": 434, "setpriority": 141, "ioprio_set": 251, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setattr": 314, "migrate_pages": 256, "move_pages": 279, "kcmp": 312, "process_madvise": 440,
    },
    "aarch64": {
        "execve": 221, "execveat": 281, "rt_sigaction": 134, "ptrace": 117,
        "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "shmat": 196, "semget": 190, "msgget": 186,
        "mq_open": 180, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438, "unshare": 97,
        "setns": 268, "mount": 40, "keyctl": 219, "add_key": 217, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282, "io_uring_setup": 425, "tkill": 130, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240,
        "pidfd_send_signal": 424, "pidfd_open": 434, "setpriority": 140, "ioprio_set": 30, "sched_setparam": 118,
        "sched_setscheduler": 119, "sched_setattr": 274, "migrate_pages": 238, "move_pages": 239, "kcmp": 272,
        "process_madvise": 440,
    },
}  # fmt: skip
# What a process may use on itself alone: kill and tgkill; prlimit64 and sched_setaffinity, for which 0 is itself, too.
SIGNALS = {"x86_64": (62, 234), "aarch64": (129, 131)}
LIMITS = {"x86_64": (302, 203), "aarch64": (261, 122)}
SET_SECCOMP, FILTER_MODE, ALLOW, REFUSE, KILL = 22, 2, 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, GREATER_EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
THREAD = 0x00010000  # of clone's flags
X32 = 0x40000000  # from here on x86_64 has the same calls under other numbers


def forbid() -> None:
    """Takes from this process, for good, what starts another one, signals or slows one, outlives it or catches signals.

    Where Linux runs.
    """
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if sys.platform != "linux" or machine not in CALLS:
        return
    refused, missing = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS
    # Each line: what to do, how far to go on where it holds and where not, and with what. First the machine's number.
    program = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, AUDIT_NUMBERS[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    program += [(GREATER_EQUAL, 0, 1, X32), (RETURN, 0, 0, refused)]
    for number in CALLS[machine].values():
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, refused)]
    for number in SIGNALS[machine]:
        program += with_first(number, (os.getpid(),), refused)
    for number in LIMITS[machine]:
        program += with_first(number, (0, os.getpid()), refused)
    program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, missing)]
    program += with_first(SOCKET[machine], FAMILIES, REFUSE | errno.EAFNOSUPPORT)
    program += [(EQUAL, 0, 3, CLONE[machine]), (LOAD, 0, 0, 16), (ANY_BIT, 1, 0, THREAD), (RETURN, 0, 0, refused)]
    program += [(RETURN, 0, 0, ALLOW)]
    lines = b"".join(struct.pack("HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(lines, len(lines))
    with contextlib.suppress(OSError):  # a kernel without it; the audit hook still refuses
        cage.system("prctl", cage.NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        cage.system(
            "prctl", SET_SECCOMP, FILTER_MODE, struct.pack("HxxxxxxP", len(program), ctypes.addressof(held)), 0, 0
        )


def with_first(number: int, values: tuple[int, ...], otherwise: int) -> list[tuple[int, int, int, int]]:
    """Allows the call of this number where its first argument is one of the values."""
    lines = [(EQUAL, 0, len(values) + 3, number), (LOAD, 0, 0, 16)]
    lines += [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*lines, (RETURN, 0, 0, otherwise), (RETURN, 0, 0, ALLOW)]

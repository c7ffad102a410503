"""Processors and memory, as judges and workers use them; what another system lacks is left as it is."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from pathlib import Path

# Of glibc's mallopt: nothing is mapped for itself, the heap shrinks from 64 MiB on, and threads share it.
MAPPED_MOST, TRIMMED_FROM, HEAPS_MOST = -4, -1, -8
MEMORY_OPTIONS = {MAPPED_MOST: 0, TRIMMED_FROM: 64 << 20, HEAPS_MOST: 1}
HUGE, COLLAPSE = 14, 25  # madvise's words, the second since Linux 6.1
LARGE_PAGE = 2 << 20
ROOM = 64 << 20


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

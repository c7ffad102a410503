"""The interview's clock: nobody can set it, and it goes on while the terminal is closed."""

from __future__ import annotations

import functools
import time
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from graders.desk import state

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
LONG = 100 * 60  # seconds, from which hours are told


@dataclass(frozen=True)
class Reading:
    """What the clocks say at one time.

    Args:
        seconds: since this computer was started, asleep or awake.
        boot: which start that was; where the system does not tell, an id of this process's own.
        wall: the clock that people can set.
    """

    seconds: float
    boot: str
    wall: datetime


def read() -> Reading:
    """The one place where the time is read; tests put another in its place."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return Reading(time.monotonic() if clock is None else time.clock_gettime(clock), boot(), state.now())


@functools.cache
def boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return uuid.uuid4().hex


class Clock:
    """Seconds of an interview; `clock()` reads them."""

    def __init__(self, begun: Reading, elapsed: float = 0.0, least: float = 0.0) -> None:
        """At `begun`, `elapsed` seconds had passed; by now there should be at least `least`."""
        now = read()
        since = now.seconds - begun.seconds if now.boot == begun.boot else (now.wall - begun.wall).total_seconds()
        self.started = now
        self.before = max(elapsed + since, least)

    def __call__(self) -> float:
        return self.before + read().seconds - self.started.seconds


def in_words(seconds: float) -> str:
    """`31:07`, and `2:05:09` for a long time."""
    minutes, rest = divmod(max(int(seconds), 0), 60)
    if seconds < LONG:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"

"""The clock of a sitting: nobody can set it, and it goes on while the terminal is closed."""

from __future__ import annotations

import functools
import time
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graders.desk import state
from graders.desk.sat import Sat

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


def for_an_event() -> dict[str, Any]:
    """What the clocks say, as the events have it from which a Clock goes on."""
    now = read()
    return {"clock": now.seconds, "boot": now.boot}


@functools.cache
def boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return uuid.uuid4().hex


class Clock:
    """Seconds of what is sat; `clock()` reads them."""

    def __init__(self, sat: Sat) -> None:
        """They count from its begin, or since it was resumed; by now there are at least those of its last event."""
        now, begun = read(), sat.anchor.body
        same = now.boot == begun["boot"]
        since = now.seconds - begun["clock"] if same else (now.wall - sat.anchor.at).total_seconds()
        self.started = now
        self.before: float = max(begun["elapsed"] + since, sat.elapsed)

    def __call__(self) -> float:
        return self.before + read().seconds - self.started.seconds


def in_words(seconds: float) -> str:
    """`31:07`, and `2:05:09` for a long time."""
    minutes, rest = divmod(max(int(seconds), 0), 60)
    if seconds < LONG:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def took(sat: Sat) -> str:
    """`took 31:07, 1:07 over; abandoned`"""
    words = f"took {in_words(sat.elapsed)}" + (f", {in_words(sat.overtime)} over" if sat.overtime else "")
    return words + {"finished": "", "abandoned": "; abandoned"}.get(sat.ended, " so far; still open")

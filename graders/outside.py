"""Runs a submission's code where no frame of the worker's lies below it, and no code of the worker's above.

A thread of its own is begun from C with steps made of C callables alone, so a submission that looks down its stack
finds nothing but itself. What the steps return comes back in a list. Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import sys
import weakref
from _queue import Empty, SimpleQueue
from _thread import start_new_thread
from collections.abc import Callable
from functools import partial
from operator import attrgetter, call
from types import TracebackType
from typing import Any

LOOK_SECONDS = 0.05  # how soon it is seen that a thread ended without a word, as `sys.exit` ends it
PLACE = attrgetter("tb_frame.f_code.co_filename", "tb_lineno")


def run(*steps: Callable[[], Any]) -> tuple[list[Any], BaseException | None]:
    """What each step returned, in order, until one raised, and what it raised."""
    results: list[Any] = []
    extend = results.extend
    news: SimpleQueue[Any] = SimpleQueue()
    last = partial(news.put, None)
    running = weakref.ref(last)
    sys.unraisablehook = news.put
    steps = (*steps, last)
    del last
    work = map(call, steps)
    del steps  # with the thread ends what keeps `last` alive
    start_new_thread(extend, (work,))
    del work
    while True:
        try:
            told = news.get(True, LOOK_SECONDS)
        except Empty:
            if running() is None and news.empty():
                return results, SystemExit()
            continue
        if told is None:
            return results[:-1] if results and results[-1] is None else results, None
        if told.object == extend:
            return results, told.exc_value
        # else a finalizer of the submission's raised, which ends nothing


def places(trace: TracebackType | None) -> list[tuple[str, int]]:
    """File and line of each frame that an exception passed through, read where reading them shows nothing of ours."""
    passed = []
    while trace is not None:
        passed.append(trace)
        trace = trace.tb_next
    return run(partial(list, map(PLACE, passed)))[0][0]  # type: ignore[no-any-return]  # what PLACE returns

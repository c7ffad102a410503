"""Runs a submission's code where no frame of the worker's lies below it, and no code of the worker's above.

A thread of its own is begun from C with steps made of C callables alone, so a submission that looks down its stack
finds nothing but itself. What the steps return comes back in a list. Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import builtins
import gc
import sys
from _queue import SimpleQueue
from _thread import start_new_thread
from _weakref import ref
from collections.abc import Callable
from functools import _lru_cache_wrapper, partial
from operator import attrgetter, call
from types import TracebackType
from typing import Any

from graders.worker.sterile import sterile

HELD: list[Any] = []  # all that came from the submission since `release`
DROPPED: list[Any] = []  # and before: the next thread that is begun takes it apart
collect, collect_no_more = gc.enable, gc.disable
IN_THREAD = "Exception ignored in thread started by {!r}"  # which Python says since 3.13, and names no object
PLACE = attrgetter("tb_frame.f_code.co_filename", "tb_lineno")


class Left(Exception):
    """Carries a SystemExit, of which a thread would end without a word."""


exception_arguments = BaseException.__dict__["args"].__get__


def catching(step: Callable[[], Any]) -> Callable[[], Any]:
    """The step, with a SystemExit of its made one that is told of."""
    left, leaves = Left, SystemExit

    def caught() -> Any:
        try:
            return step()
        except leaves as error:
            raise left(error) from None

    return sterile(caught, vars(builtins))  # what C imports or executes below it looks for them there


def in_vain(step: Callable[[], Any]) -> Callable[[], Any]:
    """The step, whatever it raises."""
    everything = BaseException

    def tried() -> None:
        try:
            step()
        except everything:
            return

    return sterile(tried, vars(builtins))


def opaque(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function in a holder of C's, of which a submission can only call it."""
    make: Any = _lru_cache_wrapper
    made: Callable[..., Any] = make(function, 0, False, tuple)
    vars(made).update(__wrapped__=abs, __name__="opaque", __qualname__="opaque", __module__="builtins")  # torch asks
    return made


def run(*steps: Callable[[], Any]) -> tuple[list[Any], BaseException | None]:
    """What each step returned, in order, until one raised, and what it raised.

    Finalizers of the submission's should not run in the worker's thread: there the collector is off, and what came
    from the submission is kept until `release`.
    """
    results: list[Any] = []
    finished: Any = object()
    news: SimpleQueue[Any] = SimpleQueue()
    last = partial(news.put, finished)
    ended = ref(last, news.put)  # which is put there when the thread is gone
    begin = opaque(results.extend)
    before: Any = (partial(setattr, sys, "unraisablehook", opaque(news.put)), collect, DROPPED.clear)
    work = map(call, (*before, *steps, collect_no_more, last))
    count = len(steps)
    del last, steps  # with the thread ends what keeps `last` alive
    HELD.append(results)
    start_new_thread(begin, (work,))
    del work
    while True:
        told = news.get()
        collect_no_more()
        HELD.append(told)
        if told is finished:
            return results[len(before) : len(before) + count], None
        if told is ended:  # without a word, as `sys.exit` ends it
            return results[len(before) :], SystemExit()
        if type(told) is TOLD and (told.object is begin or same_text(told.err_msg, IN_THREAD.format(begin))):
            error = told.exc_value
            return results[len(before) :], exception_arguments(error)[0] if type(error) is Left else error
        # else a finalizer of the submission's raised, which ends nothing


def class_of_told() -> Any:
    """Of what `sys.unraisablehook` is given, which has no name in Python."""
    seen: list[Any] = []
    ordinary, sys.unraisablehook = sys.unraisablehook, seen.append
    gone = partial(int)
    watched = ref(gone, int)  # type: ignore[arg-type]  # which raises
    del gone
    sys.unraisablehook = ordinary
    assert watched() is None
    return type(seen[0])


TOLD: Any = class_of_told()


def same_text(one: Any, other: str) -> bool:
    """A class of the submission's own could compare as it likes, and would do so in the worker's thread."""
    return type(one) is str and one == other


def release() -> None:
    """Leaves what came from the submission to the next thread; nothing of it should be in use any more."""
    DROPPED.extend(HELD)
    HELD.clear()


def places(trace: TracebackType | None) -> list[tuple[str, int]]:
    """File and line of each frame that an exception passed through, read where reading them shows nothing of ours."""
    passed = []
    while trace is not None:
        passed.append(trace)
        trace = trace.tb_next
    return run(partial(list, map(PLACE, passed)))[0][0]  # type: ignore[no-any-return]  # what PLACE returns

"""Runs a submission's code where no frame of the worker's lies below it, and no code of the worker's above.

A thread of its own is begun from C with steps made of C callables alone, so a submission that looks down its stack
finds nothing but itself. What the steps return comes back in a list. The thread stays for the next steps, unless these
raised what nobody caught, or left it in another state. Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import builtins
import gc
import sys
from _queue import SimpleQueue
from _thread import start_new_thread
from _weakref import ref
from collections import deque
from collections.abc import Callable
from functools import _lru_cache_wrapper, partial
from itertools import chain
from operator import attrgetter, call, is_
from types import TracebackType
from typing import Any

import torch

from graders.worker.fortress.sterile import sterile

HELD: list[Any] = []  # all that came from the submission since `release`
DROPPED: list[Any] = []  # kept from earlier calls; freed in the submission's thread, so that finalizers run there
collect, collect_no_more = gc.enable, gc.disable
IN_THREAD = "Exception ignored in thread started by {!r}"  # which Python says since 3.13, and names no object
frame_of, line_of = (TracebackType.__dict__[name].__get__ for name in ("tb_frame", "tb_lineno"))
file_of = attrgetter("f_code.co_filename")
Thread = tuple[
    Any, Any, Any, Any, Any
]  # its tasks, their news, how each begins, the function that it began with, its end
THREAD: list[Thread] = []  # the one that stays, if there is one
# What belongs to a thread and could be left otherwise by one call for the next, as it is in a new one.
STATE: dict[Callable[[], Any], Any] = {
    torch.is_grad_enabled: True,
    torch.is_inference_mode_enabled: False,
    torch._C._is_any_autocast_enabled: False,
    torch._C._is_torch_function_enabled: True,
    torch._C._len_torch_function_stack: 0,
    torch._C._len_torch_dispatch_stack: 0,
    partial(torch._C._autograd._top_saved_tensors_default_hooks, True): None,
    sys.gettrace: None,
    sys.getprofile: None,
}
USUAL = (*STATE.values(),)


class Caught(Exception):
    """What a step returns in place of what it raised: a class of Python's, so its instances can be told apart."""


exception_arguments = BaseException.__dict__["args"].__get__


def catching(step: Callable[[], Any]) -> Callable[[], Any]:
    """The step, which ends no thread by what it raises: `run` takes it from what it returns."""
    holder, everything = Caught, BaseException

    def caught() -> Any:
        try:
            return step()
        except everything as error:
            return holder(error)

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
    """What each step returned, in order, until one raised, and what it raised. Steps go on after one that is caught.

    Finalizers of the submission's should not run in the worker's thread: there the collector is off, what came from
    the submission is kept until `release`, and so should be whatever else is read of it: see `hold`.
    """
    tasks, news, before, begin, ended = THREAD[0] if THREAD else begin_thread()
    results: list[Any] = []
    finished: Any = object()
    work = map(call, (*before, *steps, *STATE, collect_no_more, partial(news.put, finished)))
    first, last = len(before), len(before) + len(steps)
    HELD.append(results)
    tasks.put(partial(results.extend, work))
    del work, steps
    while True:
        told = news.get()
        collect_no_more()
        HELD.append(told)
        if told is finished:
            if not all(map(is_, results[last:], USUAL)):
                end_thread()
            given = results[first:last]
            return given, next((exception_arguments(one)[0] for one in given if type(one) is Caught), None)
        if told is ended:  # without a word, as `sys.exit` ends it
            THREAD.clear()
            return results[first:], SystemExit()
        if type(told) is TOLD and (told.object is begin or same_text(told.err_msg, IN_THREAD.format(begin))):
            THREAD.clear()
            return results[first:], told.exc_value
        # else a finalizer of the submission's raised, which ends nothing


def begin_thread() -> Thread:
    """One that takes task after task until one raises: to begin it, and its first operators, take most of a call."""
    tasks: SimpleQueue[Any] = SimpleQueue()
    news: SimpleQueue[Any] = SimpleQueue()
    last = partial(int)
    ended = ref(last, news.put)  # which is put there when the thread is gone
    begin = opaque(deque[Any](maxlen=0).extend)
    start_new_thread(begin, (map(call, chain(iter(tasks.get, None), (last,))),))  # which keeps `last` alive
    before = (partial(setattr, sys, "unraisablehook", opaque(news.put)), collect, DROPPED.clear)
    THREAD.append((tasks, news, before, begin, ended))
    return THREAD[0]


def end_thread() -> None:
    THREAD.pop()[0].put(None)


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


def hold(value: Any) -> Any:
    """The same, kept until `release`: another thread may take it away meanwhile, and this one would be its last."""
    HELD.append(value)
    return value


def release() -> None:
    """Leaves what came from the submission to the next steps; nothing of it should be in use any more."""
    DROPPED.extend(HELD)
    HELD.clear()


def places(trace: TracebackType | None) -> list[tuple[str, int]]:
    """File and line of each frame that an exception passed through, read where reading them shows nothing of ours."""
    passed: list[TracebackType] = hold([])
    while trace is not None:
        passed.append(trace)
        trace = trace.tb_next
    files = map(file_of, map(frame_of, passed))
    found: list[tuple[str, int]] = run(partial(list, zip(files, map(line_of, passed), strict=True)))[0][0]
    return found

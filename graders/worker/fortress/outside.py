"""Runs a submission's code in a thread of its own, and begins another one where a call has left it in another state.

So gradients that were switched off, or a mode of torch's that was left on, change nothing for the worker, nor for the
next call.
"""

from __future__ import annotations

import contextlib
import sys
from _queue import SimpleQueue
from _thread import start_new_thread
from collections.abc import Callable
from functools import partial
from operator import is_
from typing import Any, NamedTuple

import torch

Step = Callable[[], Any]
# What belongs to a thread and could be left otherwise by one call for the next, as it is in a new one.
STATE: dict[Step, Any] = {
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
LOOKS, USUAL = [*STATE], [*STATE.values()]
THREAD: list[tuple[SimpleQueue[Any], SimpleQueue[Any]]] = []  # of the one that stays, if there is one: tasks and news


class Caught(NamedTuple):
    """What a step returns in place of what it raised."""

    error: BaseException


def catching(step: Step) -> Step:
    """The step, which keeps no step after it from its turn: `run` takes what it raised from what it returns."""

    def caught() -> Any:
        try:
            return step()
        except BaseException as error:
            return Caught(error)

    return caught


def in_vain(step: Step) -> Step:
    """The step, whatever it raises."""

    def tried() -> None:
        with contextlib.suppress(BaseException):
            step()

    return tried


def run(*steps: Step) -> tuple[list[Any], BaseException | None]:
    """What each step returned, in order, until one raised, and what it raised."""
    if not THREAD:
        THREAD.append((SimpleQueue(), SimpleQueue()))
        start_new_thread(work, THREAD[0])
    tasks, news = THREAD[0]
    tasks.put(steps)
    results, error, usual = news.get()
    if not usual:
        end_thread()
    return results, error or next((one.error for one in results if type(one) is Caught), None)


def work(tasks: SimpleQueue[Any], news: SimpleQueue[Any]) -> None:
    """The thread: to begin one, and its first operators, take most of a call."""
    while (steps := tasks.get()) is not None:
        results: list[Any] = []
        error: BaseException | None = None
        try:
            for step in steps:
                results.append(step())  # what came before an error counts
        except BaseException as raised:
            error = raised
        news.put((results, error, all(map(is_, [look() for look in LOOKS], USUAL))))
        steps = step = results = error = None  # type: ignore[assignment]  # whose memory may be large


def end_thread() -> None:
    THREAD.pop()[0].put(None)

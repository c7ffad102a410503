"""Counts what a call costs: torch's operators and their memory, and how often a line runs. Runs in the worker.

The figures are the same in every run. Memory is what torch's allocators hand out and get back, and the peak of Python's
own where that is large: of bytes, lists and numpy's arrays. What was there before the call does not count.
"""

from __future__ import annotations

import _tracemalloc
import os
import sys
from _imp import get_frozen_object
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import cache_from_source
from marshal import dumps, loads
from operator import itemgetter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch._C._autograd import (  # type: ignore[attr-defined]  # which its stub does not list in full
    ProfilerEvent,
    _clear_callbacks,
    _disable_profiler_legacy,
    _enable_profiler_legacy,
    _enable_record_function,
    _profiler_enabled,
    _ProfilerDisableOptions,
)
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState  # type: ignore[attr-defined]  # not in its __all__

# What torch.autograd.profiler builds on, here with memory; its event tree would take 10 ms a call.
CONFIG = ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, _ExperimentalConfig())
FUNCTION = 0  # the scope of events of operators
# Operators that are counted. Beyond, where any loop has failed, only what torch allocates is: 8 times faster.
MOST = 30_000
OFTEN = 500  # lines after which what the profiler has seen is added up
LOOP = 20  # runs of one line, fewer than which no budget minds
USUAL = 1 << 18  # bytes of Python's own, up to which it is not counted: they vary a little
# Bytes of a dict of 2^k texts, as the one that Python keeps all names in, which grows in whatever call uses it up.
TABLES = {32 + (4 << k) + (2 << k) // 3 * 16 for k in range(16, 21)}
MOST_LISTED = 1 << 25  # bytes of Python's own, beyond which no such table would matter, and to list all takes long
Run = tuple[CodeType, int] | tuple[CodeType, int, CodeType]  # a line, or its calls of one function
Runs = dict[Run, int]
COMPILED: dict[tuple[str, bool], set[CodeType]] = {}  # code of files that were asked about, as codes_of found it
PYC_HEADER = 16  # bytes before the code
OURS = f"{Path(__file__).parent}{os.sep}"
LIBRARY = tuple({f"{folder}{os.sep}" for folder in (sys.prefix, sys.base_prefix, Path(torch.__file__).parents[1])})

# Python's own importer, which runs under names other than those it is frozen by.
FROZEN = {
    "importlib._bootstrap": "_frozen_importlib",
    "importlib._bootstrap_external": "_frozen_importlib_external",
}

# As they are now: a submission could put others into the class, and unneeded.py takes some away.
OF_EVENT: Any = (
    ProfilerEvent.kind,
    ProfilerEvent.name,
    ProfilerEvent.scope,  # type: ignore[attr-defined]
    ProfilerEvent.thread_id,
    ProfilerEvent.cpu_memory_usage,
    ProfilerEvent.cuda_memory_usage,
)
TRACING = _tracemalloc.start, _tracemalloc.stop, _tracemalloc.get_traced_memory, _tracemalloc.reset_peak
blocks = _tracemalloc._get_traces
take: Any = _disable_profiler_legacy  # whose options the stub does not know, either
TAKE = partial(take, _ProfilerDisableOptions(False, True))  # the events so far, and goes on
below = FrameType.__dict__["f_back"].__get__


def in_short(tensor: Any, *, tensor_contents: object = None) -> str:
    """Shows a tensor while a call is measured: to format one takes some 700 operators, and a print is no loop."""
    return f"tensor(..., size={tuple(tensor.shape)})"


SHOWING = vars(torch._tensor_str)  # where torch's own function stands,
SHOW = "_str"  # under this name
in_full = SHOWING[SHOW]


class Counter(NamedTuple):
    """What counts the cost of a call and of its backward pass, one after the other."""

    begin: Callable[[], None]
    end: Callable[[], None]
    trace: Callable[..., Any]  # for the code in between
    figures: Callable[[], dict[str, int]]
    runs: Runs


def counter() -> Counter:
    """Counts as it goes, and keeps nothing of an operator: a call may run a million.

    A submission may find what traces it, and spoil the counts; its time is measured all the same.
    """
    start, stop, peak_of, forget_peak = TRACING
    enable, disable, take = partial(_enable_profiler_legacy, CONFIG), _disable_profiler_legacy, TAKE
    clear = _clear_callbacks
    tell_of_functions, most = _enable_record_function, MOST
    open_events: dict[int, list[bool]] = {}
    add, figures = adder(open_events)
    python = largest = 0

    def look_at_python() -> None:
        nonlocal python
        now = peak_of()[1]
        python = now if now > python else python

    def begin() -> None:
        nonlocal python
        python = 0
        stop()
        start(1)
        open_events.clear()
        enable()

    def look() -> None:
        look_at_python()
        if add(take()) > most:
            tell_of_functions(False)
            stop()
        forget_peak()  # which was of the events

    def end() -> None:
        nonlocal largest
        look_at_python()  # before the events become objects
        listed = blocks() if min(TABLES) <= peak_of()[0] <= MOST_LISTED else ()
        largest = max(largest, python - sum(size for _, size, *_ in listed if size in TABLES))
        stop()
        add(disable())
        clear()  # torch leaves one where events were taken, so that each call would be slower than the one before
        tell_of_functions(True)

    def found() -> dict[str, int]:
        operators, written, peak = figures()
        return {"operators": operators, "written": written, "peak": peak + max(largest - USUAL, 0)}

    trace, runs = line_counter(look)
    return Counter(begin, end, trace, found, runs)


def adder(open_events: dict[int, list[bool]]) -> tuple[Callable[[Any], int], Callable[[], tuple[int, int, int]]]:
    """What sums up the profiler's events, and returns the operators so far; and the sums.

    `open_events` says of each thread which events are open: whether one is an operator, or inside one.

    Of operators it counts those that no other operator called. What torch does inside one is not the submission's
    choice: a product whose layout cannot be folded runs three operators for each matrix, without a loop in sight. Its
    time and memory still count.
    """
    kind_of, name_of, scope_of, thread_of, cpu_bytes, cuda_bytes = OF_EVENT
    function = FUNCTION
    operators = written = live = peak = 0

    def add(threads: Any) -> int:
        nonlocal operators, written, live, peak
        for thread in threads:
            inside = open_events.setdefault(thread_of(thread[0]), []) if thread else []
            for event in thread:
                kind: Any = kind_of(event)  # torch's own types say int
                if kind == "push":
                    name = name_of(event)
                    nested = inside[-1] and not name.startswith("Python") if inside else False  # where torch calls it
                    operator = name.startswith("aten::") and scope_of(event) == function  # and no record_function
                    operators += operator and not nested
                    inside.append(nested or operator)
                elif kind == "pop" and inside:
                    inside.pop()
                elif kind == "memory_alloc":
                    change = cpu_bytes(event) + cuda_bytes(event)
                    live += change
                    peak = live if live > peak else peak
                    written += change if change > 0 else 0
        return operators

    return add, lambda: (operators, written, peak)


def line_counter(look: Callable[[], None]) -> tuple[Callable[..., Any], Runs]:
    """A trace function that counts how often each line runs and calls each function, and the counts.

    What C calls for each element, as `map` does, costs its line one run for all. Now and then it has `look` run.
    """
    runs: Runs = {}
    back_of, counting, often = below, _profiler_enabled, OFTEN
    events = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal events
        events += 1
        if events >= often:
            events = 0
            if counting():  # in this thread
                look()
        if event == "line":
            key: Run = (frame.f_code, frame.f_lineno)
            runs[key] = runs.get(key, 0) + 1
        elif event == "call" and (caller := back_of(frame)):
            key = (caller.f_code, caller.f_lineno, frame.f_code)
            runs[key] = runs.get(key, 0) + 1
        return trace

    return trace, runs


def longest_loop(runs: Runs, path: str) -> dict[str, int]:
    """How often the line ran that ran most often, and which it is where it is the submission's.

    Lines of ours or of an installed library do not count. Code that only claims a library's file name
    counts, once there is enough of it for a loop.
    """
    # What a submission put there may be anything.
    counted = [one for one in runs.copy().items() if type(one[1]) is int and type(one[0]) is tuple]
    for (code, line, *_), times in sorted(counted, key=itemgetter(1), reverse=True):
        plain = plain_code(code)
        if plain and plain.co_filename == path and type(line) is int:
            return {"lines": times, "line": line}
        if times >= LOOP and not (plain and (is_ours(plain) or is_installed(plain) or makes_a_named_tuple(plain))):
            return {"lines": times, "line": 0}
    return {"lines": 0, "line": 0}


def plain_code(code: Any) -> CodeType | None:
    """A copy of the code that has plain parts alone: names of a class of their own could compare as they like."""
    try:
        return loads(dumps(code)) if type(code) is CodeType else None
    except ValueError:
        return None


def is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(OURS)


def is_installed(code: CodeType) -> bool:
    """Whether the file that the code names, one of Python's or of a library's, compiles to it."""
    file = code.co_filename
    for kept in (True, False):  # what Python keeps in compiled form may be of an older text
        if (file, kept) not in COMPILED:
            COMPILED[file, kept] = set(codes_of(file, kept))
        if code in COMPILED[file, kept]:
            return True
    return False


def makes_a_named_tuple(code: CodeType) -> bool:
    """Whether it is compiled from the text from which Python compiles what makes one."""
    names = ", ".join(code.co_varnames[1:]) + "," * (len(code.co_varnames) == 2)
    try:
        made = compile(f"lambda _cls, {names}: _tuple_new(_cls, ({names}))", "", "eval", dont_inherit=True).co_consts[0]
    except (SyntaxError, ValueError):
        return False
    return type(made) is CodeType and made == code


def codes_of(file: str, kept: bool) -> Iterator[CodeType]:
    """All code of a library's file, as it is `kept` compiled, or compiled anew; none where it is no such file."""
    try:
        if file.startswith("<frozen "):
            name = file[len("<frozen ") : -1]
            pending = [get_frozen_object(FROZEN.get(name, name))]
        elif file.startswith(LIBRARY):
            with open(cache_from_source(file) if kept else file, "rb") as stream:
                text = stream.read()
            pending = [loads(text[PYC_HEADER:]) if kept else compile(text, file, "exec", dont_inherit=True)]
        else:
            return
    except (EOFError, ImportError, NotImplementedError, OSError, SyntaxError, TypeError, ValueError):
        return
    while pending:
        one = pending.pop()
        yield one
        pending += [constant for constant in one.co_consts if type(constant) is CodeType]

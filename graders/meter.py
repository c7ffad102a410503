"""Counts what a call costs: torch's operators and their memory, and how often a line runs. Runs in the worker.

The figures are the same in every run. Memory is what torch's allocators hand out and get back; what was there before
the call does not count.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch._C._autograd import _disable_profiler_legacy, _enable_profiler_legacy
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState  # type: ignore[attr-defined]  # not in its __all__

# What torch.autograd.profiler builds on, here with memory; its event tree would take 10 ms a call.
CONFIG = ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, _ExperimentalConfig())
Tracer = Callable[[FrameType, str, Any], Any]


class Meter:
    """The cost of one call of the submission at `path`, added up over its forward and its backward."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.operators = 0
        self.written = 0
        self.live = 0
        self.peak = 0
        self.runs: Counter[tuple[str, int]] = Counter()  # by file and line

    def cost(self) -> dict[str, int]:
        (file, line), lines = max(self.runs.items(), key=lambda item: item[1], default=((self.path, 0), 0))
        figures = {"operators": self.operators, "written": self.written, "peak": self.peak, "lines": lines}
        return figures | {"line": line if file == self.path else 0}

    def add(self, threads: list[list[Any]]) -> None:
        """Counts the profiler's events. Of operators only those that no other operator called.

        What torch does inside one is not the submission's choice: a product whose layout cannot be folded runs
        three operators for each matrix, without a loop in sight. Its time and memory still count.
        """
        for thread in threads:
            inside: list[bool] = []  # for each open event: whether it is an operator, or inside one
            for event in thread:
                kind = event.kind()
                if kind == "push":
                    nested = bool(inside) and inside[-1]
                    operator = event.name().startswith("aten::")
                    self.operators += operator and not nested
                    inside.append(nested or operator)
                elif kind == "pop" and inside:
                    inside.pop()
                elif kind == "memory_alloc":
                    change = event.cpu_memory_usage() + event.cuda_memory_usage()
                    self.live += change
                    self.peak = max(self.peak, self.live)
                    self.written += max(change, 0)

    @contextmanager
    def backward(self) -> Iterator[None]:
        """Counts the operators of a backward."""
        _enable_profiler_legacy(CONFIG)
        try:
            with self.lines():
                yield
        finally:
            self.add(_disable_profiler_legacy())

    @contextmanager
    def lines(self) -> Iterator[None]:
        """Counts the lines that run, in threads and in code that the submission makes as it goes, too."""
        threading.settrace(self.enter)
        sys.settrace(self.enter)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def enter(self, frame: FrameType, event: str, argument: object) -> Tracer | None:
        file = frame.f_code.co_filename
        own = file == self.path or (file.startswith("<") and not file.startswith("<frozen"))
        return self.count if own else None

    def count(self, frame: FrameType, event: str, argument: object) -> Tracer:
        if event == "line":
            self.runs[frame.f_code.co_filename, frame.f_lineno] += 1
        return self.count

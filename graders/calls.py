"""Watches what a submission calls while it runs, whatever it is spelled like. Runs in the worker.

The profiler sees every operator that torch executes in the calling thread, under any mode; `sys.setprofile` sees
every Python function and builtin in any thread, which covers functions that leave no operator of their own.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import CodeType, FrameType
from typing import Any

from torch import Tensor
from torch._C._autograd import _disable_profiler_legacy, _enable_profiler_legacy
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState  # type: ignore[attr-defined]  # not in its __all__

from graders import meter as metering
from graders.meter import Meter

# Libraries that do the whole job, and the ways out of torch that lead to numpy.
LIBRARIES = (
    "sklearn",
    "scipy",
    "torchmetrics",
    "torchvision",
    "ignite",
    "jax",
    "tensorflow",
    "keras",
    "pandas",
    "cupy",
)
EXITS = ("Tensor.numpy", "Tensor.__array__", "Tensor.__dlpack__", "_to_dlpack", "to_dlpack")
EXIT_NAMES = [name.rpartition(".")[2].lstrip("_") for name in EXITS]

# What only somebody who wants not to be seen would do, as the interpreter itself reports it.
TAMPERING = ("sys.setprofile", "sys.settrace", "sys.addaudithook", "gc.get_", "sys._getframe", "ctypes.")

# Every way to start a thread, those of newer Pythons too.
STARTS = ("start_new_thread", "start_new", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread")

# What torch.autograd.profiler builds on; without its event tree this takes 0.2 ms a call instead of 10.
CONFIG = ProfilerConfig(ProfilerState.CPU, False, False, False, False, False, _ExperimentalConfig())
OWN = (__file__, metering.__file__)
HARMLESS: set[str] = set()  # operators seen and found to be allowed: most repeat


class Watch:
    """Tells the offences of a submission as they happen: what was called, and its line where it is known.

    Make it before the submission is imported, once in a process: what it asks of the interpreter cannot be taken back.

    Args:
        banned: names; each stands for every operator and torch function that starts with it.
        path: the submission's file name.
        tell: called with each offence and its line, at once.
    """

    def __init__(self, banned: list[str], path: str, tell: Callable[[str, int | None], None]) -> None:
        self.banned = banned
        self.path = path
        self.tell = tell
        self.told: dict[str, int | None] = {}
        self.known: dict[CodeType, str | None] = {}  # most calls repeat
        self.harmless: set[str] = set()  # names of builtins
        self.in_backward = False
        self.auditing = False
        sys.addaudithook(self.audit)
        for module, name in ((module, name) for module in (_thread, threading) for name in STARTS):
            if hasattr(module, name):
                setattr(module, name, self.watched_start(getattr(module, name)))

    def watched_start(self, start: Callable[..., Any]) -> Callable[..., Any]:
        """The function that starts a thread, so that the thread is watched, be it started at import or in a call."""

        def watched(function: Callable[..., Any], *rest: Any, **options: Any) -> Any:
            def work(*arguments: Any, **keywords: Any) -> Any:
                sys.setprofile(self.hook)
                return function(*arguments, **keywords)

            return start(work, *rest, **options)

        return watched

    @contextmanager
    def functions(self) -> Iterator[None]:
        """Watches Python functions and builtins, those that a hand-written backward calls included."""
        sys.setprofile(self.hook)
        try:
            yield
        finally:
            if sys.getprofile() != self.hook:
                self.offend("sys.setprofile", None)
            sys.setprofile(None)

    @contextmanager
    def operators(self, meter: Meter | None = None) -> Iterator[None]:
        """Watches torch's operators; only around the forward, since autograd may use any operator for its backward."""
        self.told, self.in_backward = {}, False
        _enable_profiler_legacy(metering.CONFIG if meter else CONFIG)
        try:
            with meter.lines() if meter else nullcontext():
                yield
        finally:
            events: list[list[Any]] = []
            try:
                events = _disable_profiler_legacy()
            except RuntimeError:  # it was not running
                self.offend("torch._C._autograd._disable_profiler_legacy", None)
            self.in_backward = True
            if meter:
                meter.add(events)
            for name in {event.name() for thread in events for event in thread}:
                if name.startswith("aten::") and name not in HARMLESS:
                    self.judge_operator(name)

    def judge_operator(self, name: str) -> None:
        operator = name.removeprefix("aten::").lstrip("_")
        if not is_banned(operator, self.banned):
            HARMLESS.add(name)
        elif not any(is_banned(call.rpartition(".")[2], [operator]) for call in self.told):
            self.offend(f"the operator {name}", None)

    def hook(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            offence = self.known.get(code, "")
            if offence == "":
                module, name = frame.f_globals.get("__name__", ""), code.co_qualname
                offence = self.known[code] = python_offence(module, name, self.banned)
        elif event == "c_call" and argument.__name__ not in self.harmless:
            offence = builtin_offence(argument, self.banned)
            if not is_banned(argument.__name__, [*self.banned, *EXIT_NAMES]):
                self.harmless.add(argument.__name__)
        else:
            return
        if offence is not None and self.told.get(offence) is None:
            line = line_of(frame, self.path)
            if line is not None or not self.in_backward:
                self.offend(offence, line)

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Told by the interpreter itself, whatever way the call took. What a library does in its own files is fine."""
        if event == "object.__getattr__" or self.auditing or not event.startswith(TAMPERING):  # the first is our own
            return
        self.auditing = True  # the next line is such an event itself
        frame = sys._getframe(1)
        self.auditing = False
        file = frame.f_code.co_filename
        if file not in OWN and not file.startswith("<frozen") and not os.path.exists(file):
            self.offend(event, line_of(frame, self.path))

    def offend(self, name: str, line: int | None) -> None:
        if name not in self.told or self.told[name] is None is not line:
            self.told[name] = line
            self.tell(name, line)


def is_banned(name: str, banned: list[str]) -> bool:
    return any(name.lstrip("_").startswith(word) for word in banned)


def python_offence(module: str, qualname: str, banned: list[str]) -> str | None:
    package = module.partition(".")[0]
    if package in LIBRARIES:
        return package
    if module == "torch._tensor" and qualname in EXITS:
        return f"torch.{qualname}"
    if package == "torch" and is_banned(qualname.rpartition(".")[2], banned):
        return f"{module}.{qualname}"
    return None


def builtin_offence(builtin: Any, banned: list[str]) -> str | None:
    name = builtin.__name__
    if issubclass(type(getattr(builtin, "__self__", None)), Tensor):  # whatever class a submission made of it
        name = f"Tensor.{name}"
    elif str(builtin.__module__).partition(".")[0] != "torch":
        return None
    return f"torch.{name}" if name in EXITS or is_banned(builtin.__name__, banned) else None


def line_of(frame: FrameType | None, path: str) -> int | None:
    """The innermost line of the submission on the stack."""
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno

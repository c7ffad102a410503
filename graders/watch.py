"""Watches what a submission calls while it runs, whatever it is spelled like. Runs in the worker.

The profiler sees every operator that torch executes in the calling thread, under any mode; `sys.setprofile` sees
every Python function and builtin in any thread, which covers functions that leave no operator of their own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from torch._C._autograd import _disable_profiler_legacy, _enable_profiler_legacy
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerConfig, ProfilerState  # type: ignore[attr-defined]  # not in its __all__

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


class Watch:
    """Collects the offences of one call: what was called, and the submission's line where it is known.

    Args:
        banned: names; each stands for every operator and torch function that starts with it.
        path: the submission's file name.
    """

    def __init__(self, banned: list[str], path: str) -> None:
        self.banned = banned
        self.path = path
        self.calls: dict[str, int | None] = {}
        self.known: dict[
            CodeType | str, str | None
        ] = {}  # verdicts by code object or builtin's name: most calls repeat
        self.in_backward = False

    @contextmanager
    def functions(self) -> Iterator[None]:
        """Watches Python functions and builtins, those that a hand-written backward calls included."""
        threading.setprofile(self.hook)
        sys.setprofile(self.hook)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def operators(self) -> Iterator[None]:
        """Watches torch's operators; only around the forward, since autograd may use any operator for its backward."""
        # What torch.autograd.profiler builds on; without its event tree this takes 0.2 ms a call instead of 10.
        config = ProfilerConfig(ProfilerState.CPU, False, False, False, False, False, _ExperimentalConfig())
        _enable_profiler_legacy(config)
        try:
            yield
        finally:
            seen = {event.name() for thread in _disable_profiler_legacy() for event in thread}
            self.in_backward = True
        for name in seen:
            operator = name.removeprefix("aten::").lstrip("_")
            is_known = any(is_banned(call.rpartition(".")[2], [operator]) for call in self.calls)
            if name.startswith("aten::") and is_banned(operator, self.banned) and not is_known:
                self.calls[f"the operator {name}"] = None

    def hook(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            key: CodeType | str = frame.f_code
            if key not in self.known:
                module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
                self.known[key] = python_offence(module, name, self.banned)
        elif event == "c_call":
            key = f"{getattr(argument, '__module__', None)}.{getattr(argument, '__qualname__', '')}"
            if key not in self.known:
                self.known[key] = builtin_offence(key, self.banned)
        else:
            return
        offence = self.known[key]
        if offence is not None and self.calls.get(offence) is None:
            line = line_of(frame, self.path)
            if line is not None or not self.in_backward:
                self.calls[offence] = line

    def offences(self) -> list[dict[str, Any]]:
        return [{"name": name, "line": line} for name, line in sorted(self.calls.items())]


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


def builtin_offence(key: str, banned: list[str]) -> str | None:
    name = key.rpartition(".")[2]
    owner = key.removeprefix("None.")
    if owner in EXITS or (key.startswith("torch.") and name in EXITS):
        return f"torch.{owner.removeprefix('torch.')}"
    if (key.startswith(("torch.", "None.Tensor.", "None.TensorBase.", "None._TensorBase."))) and is_banned(
        name, banned
    ):
        return f"torch.{name}"
    return None


def line_of(frame: FrameType | None, path: str) -> int | None:
    """The innermost line of the submission on the stack."""
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno

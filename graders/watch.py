"""Watches what a submission calls while it runs, whatever it is spelled like. Runs in the worker.

The profiler sees every operator that torch executes, in any thread and under any mode; `sys.setprofile` sees
every Python function and builtin, which covers functions that leave no operator of their own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import torch

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


@contextmanager
def watching(banned: list[str], path: str) -> Iterator[list[dict[str, Any]]]:
    """Yields the list that the offences end up in: what was called, and the submission's line where it is known."""
    calls: dict[str, int | None] = {}
    known: dict[CodeType | str, str | None] = {}  # verdicts by code object or builtin's name: most calls repeat

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            key: CodeType | str = frame.f_code
            if key not in known:
                known[key] = python_offence(frame.f_globals.get("__name__", ""), frame.f_code.co_qualname, banned)
        elif event == "c_call":
            key = f"{getattr(argument, '__module__', None)}.{getattr(argument, '__qualname__', '')}"
            if key not in known:
                known[key] = builtin_offence(key, banned)
        else:
            return
        offence = known[key]
        if offence is not None and calls.get(offence) is None:
            calls[offence] = line_of(frame, path)

    offences: list[dict[str, Any]] = []
    with torch.autograd.profiler.profile() as profile:
        threading.setprofile(hook)
        sys.setprofile(hook)
        try:
            yield offences
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    for name in {event.name for event in profile.function_events or ()}:
        operator = name.removeprefix("aten::").lstrip("_")
        is_known = any(is_banned(call.rpartition(".")[2], [operator]) for call in calls)
        if name.startswith("aten::") and "backward" not in operator and is_banned(operator, banned) and not is_known:
            calls[f"the operator {name}"] = None
    offences.extend({"name": name, "line": line} for name, line in sorted(calls.items()))


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

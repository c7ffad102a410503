"""Refuses what no removal reaches: libraries that do a kata's work, other processes, machine code, Python's insides."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence, Set
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import torch

from graders.worker.fortress.outside import work
from graders.worker.fortress.removal import refuse
from graders.worker.meter import LIBRARY

LIBRARIES = frozenset((
    "sklearn", "scipy", "torchmetrics", "torchvision", "ignite", "jax", "tensorflow", "keras", "pandas", "cupy",
    "tokenizers", "tiktoken", "sentencepiece", "transformers", "sympy", "mpmath",
))  # fmt: skip
SHARED = ("sympy", "mpmath")  # which torch.compile needs itself
THEIRS = tuple(str(Path(torch.__file__).parents[1] / one) + os.sep for one in ("torch", *SHARED))
INSTALLED = frozenset(filter(find_spec, LIBRARIES))
# Audit events of Python's own means of getting past Python: to the memory, to all objects, to other frames.
INSIDES = ("ctypes.", "gc.get_", "sys._current_", "sys.monitoring", "sys.remote_exec", "cpython.PyInterpreterState_New")
PROCESSES = ("os.fork", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.startfile", "subprocess.", "pty.")
# What may ask for a trace: the worker, and Python where a thread begins while it is asked for.
TRACING = (work.__code__, threading.Thread._bootstrap_inner.__code__)  # type: ignore[attr-defined]
LOADING: list[None] = []  # not empty while a submission is imported


def guard() -> None:
    """From now on, for the rest of this process: an audit hook cannot be taken off again."""
    sys.meta_path.insert(0, Libraries())
    sys.addaudithook(audit)


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import":
        if arguments[1] is not None and not arguments[1].startswith(LIBRARY):
            refuse("a library of machine code")
        if arguments[0].rpartition(".")[2].startswith("_test"):  # Python's own tests, which read and write memory
            refuse(arguments[0])
        if arguments[0].startswith("torch.onnx."):  # of which the servers' stand-in has nothing
            refuse("torch.onnx")
        if is_kept_away(arguments[0], LIBRARIES) and not LOADING:
            refuse(arguments[0])
    elif event in ("sys.settrace", "sys.setprofile"):
        if sys._getframe(1).f_code not in TRACING:
            raise RuntimeError(f"{event} may not be called here")  # no offence: a debugger that was left in does so
    elif event.startswith(INSIDES):
        refuse(event)
    elif event.startswith(PROCESSES):
        refuse(f"{event} (another process)")


def is_kept_away(name: str, libraries: Set[str]) -> bool:
    """Whether a module is of one of the libraries; but torch itself may import what it needs."""
    package = name.partition(".")[0]
    if package not in libraries or package not in SHARED:
        return package in libraries
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is None or not frame.f_code.co_filename.startswith(THEIRS)


class Libraries:
    """Finds a stand-in for a library that is imported while a submission is; `audit` refuses such an import later.

    So what is not used does no harm; and a library's own code, in C above all, which cannot be taken away, never runs.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        apart = is_kept_away(name, INSTALLED)
        return ModuleSpec(name, self, is_package=True) if apart else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__getattr__ = Part(spec.name, (), {"__module__": spec.name}).__getattr__  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None: ...


class Part(type):
    """A part of a stand-in; a class, so that it may be inherited. What is asked of it is there, and refuses calls."""

    def __getattr__(cls, name: str) -> Part:
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(name, (), {"__module__": f"{cls.__module__}.{name}"})

    def __call__(cls, *_: object, **__: object) -> None:
        refuse(cls.__module__)

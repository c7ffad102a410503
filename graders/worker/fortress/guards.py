"""Audit hooks that refuse ways around the worker: frames, memory, processes, machine code, libraries that do the job.

They cannot be taken off again. Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch

from graders.worker.fortress.removal import FILES, Refuse, instead_of, refusing
from graders.worker.fortress.sterile import sterile
from graders.worker.meter import LIBRARY

LIBRARIES = frozenset((
    "sklearn", "scipy", "torchmetrics", "torchvision", "ignite", "jax", "tensorflow", "keras", "pandas", "cupy",
    "tokenizers", "tiktoken", "sentencepiece", "transformers", "sympy", "mpmath",
))  # fmt: skip
SHARED = ("sympy", "mpmath")  # which torch.compile needs itself
INSTALLED = frozenset(filter(find_spec, LIBRARIES))
# Python's own means of getting past Python: to the memory, to other frames, to other processes.
INTERNALS = frozenset(("_testcapi", "_testinternalcapi", "_testlimitedcapi", "_cffi_backend", "_posixsubprocess"))
FORBIDDEN = (
    "ctypes.",
    "gc.get_",
    "sys._current_",
    "sys.monitoring",
    "sys.remote_exec",
    "cpython.PyInterpreterState_New",
)
PROCESSES = ("os.fork", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.startfile", "subprocess.", "pty.")
FRAMES = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
IMPORTED: set[str] = set()  # of the libraries, as `guard` saw it
LOADING: list[None] = []  # not empty while a submission is imported
LOOKING: list[None] = []  # not empty while the worker itself looks at all objects


def guard(banned: tuple[str, ...], refuse: Refuse) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that refuses ways around the worker, its frames above all; it cannot be taken off again."""
    main, thread_now, frame_now = _thread.get_ident(), _thread.get_ident, sys._getframe
    thread_start = threading.Thread._bootstrap_inner.__code__  # type: ignore[attr-defined]  # it traces new threads
    installed, begins, kind, text = LIBRARY, str.startswith, type, str
    forbidden, internals, frames, processes = FORBIDDEN, INTERNALS, FRAMES, PROCESSES
    files, code_type = FILES, type(thread_start)
    libraries, imported, loading, looking = LIBRARIES, IMPORTED, LOADING, LOOKING
    there, modules, stand_in = INSTALLED, sys.modules, stand_ins(refuse)
    shared, theirs = SHARED, tuple(str(Path(torch.__file__).parents[1] / one) + os.sep for one in ("torch", *SHARED))
    folders = {f"{os.sep}{package}{os.sep}": package for package in libraries - {*shared}}

    def library_of(file: str) -> str:
        for folder, package in folders.items():
            if folder in file:
                return package
        return ""

    def imported_by_torch() -> bool:
        """Torch itself, or what it imports."""
        frame: FrameType | None = frame_now(2)
        while frame is not None and begins(frame.f_code.co_filename, "<frozen importlib"):
            frame = frame.f_back
        return frame is not None and begins(frame.f_code.co_filename, theirs)

    library_of, imported_by_torch = sterile(library_of), sterile(imported_by_torch)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "object.__getattr__":
            if arguments[1] in frames and thread_now() == main:
                raise RuntimeError("frames cannot be read here")
        elif event == "import":
            if kind(arguments[0]) is not text:
                refuse("an import by a name of another class")
            if arguments[1] is not None and (not begins(arguments[1], installed) or library_of(arguments[1])):
                refuse("a library of machine code")
            last, package = arguments[0].rpartition(".")[2], arguments[0].partition(".")[0]
            if package in libraries and not (package in shared and imported_by_torch()):
                if not loading:
                    refuse(arguments[0])
                imported.add(package)  # which is a submission's own business as long as it does not use it
                if package in there:
                    modules[arguments[0]] = stand_in(arguments[0])  # where the importer looks next
            if last in internals or (arguments[0].startswith("torch.") and last in banned):
                refuse(arguments[0])
        elif event == "exec":
            code = arguments[0]
            named = kind(code) is code_type and kind(code.co_filename) is text and kind(code.co_name) is text
            if named and code.co_name == "<module>" and code.co_filename in files:
                refuse("the code of a module of torch's")
            package = library_of(code.co_filename) if named else ""
            if package and not loading:
                refuse(package)
            elif package:
                raise ImportError(f"{package} can only be imported by a statement here")
        elif event.startswith("sys._getframe"):
            if thread_now() == main:
                raise RuntimeError("frames cannot be read here")
        elif event in ("sys.settrace", "sys.setprofile", "sys.addaudithook"):
            if thread_now() == main:
                raise RuntimeError("frames cannot be read here")
            try:
                below = frame_now(1)
            except BaseException:  # there is none: the worker has it called from C
                return
            if event == "sys.addaudithook":
                raise RuntimeError  # then none is added, and nobody is told: Triton asks for one when it is imported
            if below.f_code is not thread_start:
                raise RuntimeError(f"{event} may not be called here")  # no offence: a debugger that was left in does so
        elif event.startswith(forbidden):
            if not looking or thread_now() != main:
                refuse(event)
        elif event.startswith(processes):
            refuse(f"{event} (another process)")

    return sterile(hook)


def stand_ins(refuse: Refuse) -> Callable[[str], ModuleType]:
    """Makes the module that an import of a library gives: whatever is asked of it is there, and refuses to be called.

    So what is not used does no harm; and a library's own code, in C above all, which cannot be taken away, never runs.
    """
    kind, module, missing = type, ModuleType, AttributeError

    def part(owner: Any, name: str) -> Any:
        if name[:2] == "__":
            raise missing(name)
        return whole(name, (), {"__module__": f"{owner.__module__}.{name}"})

    def called(owner: Any, *_: object, **__: object) -> None:
        refuse(owner.__module__)

    def stand_in(name: str) -> ModuleType:
        made, top = module(name), whole(name, (), {"__module__": name})
        made.__path__ = []
        made.__getattr__ = top.__getattr__  # type: ignore[method-assign]
        return made

    whole = kind("library", (kind,), {"__getattr__": sterile(part), "__call__": sterile(called)})
    return sterile(stand_in)


def take_away_libraries(refuse: Refuse) -> None:
    """Has the Python functions of libraries that a submission ran by another way than imports refuse."""
    if not IMPORTED:
        return
    LOOKING.append(None)
    gc.unfreeze()
    found = [one for one in gc.get_objects() if type(one) is FunctionType]
    LOOKING.clear()
    for package in IMPORTED:
        inside, refused = f"{os.sep}{package}{os.sep}", instead_of(package, refuse)
        for one in found:
            if str.__contains__(one.__code__.co_filename, inside):
                one.__code__ = refusing(refused, one.__code__)
    IMPORTED.clear()

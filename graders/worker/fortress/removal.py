"""Takes what a kata bans out of the process, before a submission is read: what is not there cannot be called.

Torch's operators are replaced in its dispatcher, where every way of calling one ends: functions, methods, modules,
raw operators, TorchScript, vmap. Torch's Python functions get other code, under whatever name they are held, and so
do those of modules that torch imports later.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch

from graders.worker.fortress.stock import FOR_LISTS, VARIANT, Inventory, beginning_with, spelled_out, words_of

LEARNER: list[tuple[str, Callable[[bytes], int]]] = []  # the submission's path, and what tells the judge
KEPT: list[Any] = []  # libraries of kernels, whose end would undo what they did
new_library = torch._C._dispatch_library
DERIVE = ("grad", "backward", "_backward")  # operators of TorchScript's, which call the engine
DERIVING = re.compile(rf"\b({'|'.join(DERIVE)})\b")
# The importer's class by which all that reads source runs a module's code.
LOADER: Any = next(one for one in importlib.machinery.SourceFileLoader.__mro__ if "exec_module" in vars(one))


def refuse(name: str) -> None:
    """Tells the judge what was called, with the submission's line, and raises."""
    if not LEARNER:
        return  # no submission is read yet: it is torch itself
    path, tell = LEARNER[0]
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    with contextlib.suppress(OSError):  # it was closed, or is full: what matters is that the call is refused
        tell(f"\n! {name[:100]}\t{'' if frame is None else frame.f_lineno}\n".encode())
    raise RuntimeError(f"{name} may not be called in this kata")


def instead_of(name: str) -> Callable[..., Any]:
    """What takes the place of the function of that name."""
    return lambda *_, **__: refuse(name)


def take_away(stock: Inventory, banned: tuple[str, ...]) -> None:
    """Replaces all whose name, without leading underscores, begins with one of the banned words; also from now on."""
    if "autograd" in banned:
        take_away_autograd()
    banned = spelled_out(banned)
    operators = beginning_with(banned, stock.operators)
    replace_kernels((full_name, keys, instead_of(shown(word, full_name))) for word, full_name, keys in operators)
    for word, functions in beginning_with(banned, stock.functions):
        for function in functions:
            take_away_function(function, word)
    ordinary = LOADER.exec_module

    def exec_module(loader: Any, module: ModuleType) -> None:
        ordinary(loader, module)
        for function in functions_of(module) if module.__name__.startswith("torch.") else ():
            for word, _ in words_of(function.__module__, [function]):
                if word.startswith(banned):
                    take_away_function(function, word)

    LOADER.exec_module = exec_module


def shown(word: str, full_name: str) -> str:
    """An operator's name for the learner, without what stands before it and its overload's name."""
    name = full_name.partition("::")[2].partition(".")[0]
    return name if word == FOR_LISTS else VARIANT.sub("", name, count=1)


def replace_kernels(found: Iterable[tuple[str, list[str], Callable[..., Any]]]) -> None:
    """Of operators, by their full names and dispatch keys."""
    libraries: dict[str, Any] = {}
    with warnings.catch_warnings(action="ignore"):  # that another kernel is there: that is the point
        for full_name, keys, kernel in found:
            namespace, _, name = full_name.partition("::")
            if namespace not in libraries:
                libraries[namespace] = new_library("IMPL", namespace, "", "kata", 0)
            for key in keys:
                libraries[namespace].impl(name, key, kernel, False)
    KEPT.extend(libraries.values())


def take_away_function(function: FunctionType, word: str, name: str = "") -> None:
    """By its code, since it is held under many names."""
    by_module = word not in function.__name__
    name = name or (f"{function.__module__}.{function.__qualname__}" if by_module else function.__name__)
    refused = instead_of(name)

    def template(*_: object, **__: object) -> object:
        called = "refused"
        return called()  # type: ignore[operator]  # replaced below

    code = template.__code__
    constants = tuple(refused if constant == "refused" else constant for constant in code.co_consts)
    function.__code__ = code.replace(co_consts=constants, co_freevars=function.__code__.co_freevars)


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Those that it defines, with its classes' methods and what decorators have wrapped."""
    seen, pending = set(), [*vars(module).values()]
    while pending:
        one = pending.pop()
        one = getattr(one, "__func__", one) if isinstance(one, (staticmethod, classmethod)) else one
        if not isinstance(one, (FunctionType, type)) or one.__module__ != module.__name__ or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, type):
            pending += vars(one).values()
        else:
            pending.append(getattr(one, "__wrapped__", None))
            yield one


def take_away_autograd() -> None:
    """Leaves no way to a derivative: neither the engine, nor the nodes of its graph, nor TorchScript.

    The worker itself has kept the engine's own function. Forward mode is an operator: see stock.py.
    """
    no: Any = instead_of("autograd")
    take_away_function(torch.autograd.graph._engine_run_backward, "", "autograd")  # type: ignore[arg-type]
    torch.autograd.Variable._execution_engine = SimpleNamespace(run_backward=no)  # type: ignore[assignment]
    torch.Tensor.grad_fn = property(lambda _: None)  # type: ignore[assignment]
    for name in DERIVE:
        setattr(torch.ops.aten, name, no)
    for module in (torch._C._distributed_autograd, sys.modules.get("torch.distributed.autograd")):
        if module:  # an engine of its own
            vars(module)["backward"] = no
    # A scripted function stays as it is: inside the compiled one, nothing could be told from here.
    torch.jit.script = lambda obj, *_, **__: obj
    ordinary: Any = torch._C.CompilationUnit.__init__

    def compile_text(unit: Any, text: str = "", *rest: Any) -> None:
        if DERIVING.search(text):
            no()
        ordinary(unit, text, *rest)

    torch._C.CompilationUnit.__init__ = compile_text  # type: ignore[method-assign, assignment]

"""Takes what a kata bans out of the process, before a submission is read: what is not there cannot be called.

Torch's operators are replaced in its dispatcher, where every way of calling one ends: functions, methods, modules,
raw operators, TorchScript, vmap. Torch's Python functions get other code, under whatever name they are held; the ways
out to numpy, the switches of its profiler and its compiler of expressions, whose kernels are no operators, are replaced
where they stand. Nothing here can be put back from Python: the dispatcher's new entries have no handle.

Part of the worker's private copy: see sealed.py.
"""

from __future__ import annotations

import _ctypes
import _tracemalloc
import ctypes
import gc
import operator
import os
import sys
import tracemalloc
import warnings
from _queue import SimpleQueue
from collections.abc import Callable, Iterable
from itertools import chain, starmap
from types import CodeType, FrameType, MappingProxyType, TracebackType
from typing import Any, NamedTuple

import torch

from graders.worker.fortress.outside import opaque
from graders.worker.fortress.sterile import sterile
from graders.worker.fortress.stock import EXITS, FOR_LISTS, REGISTER, VARIANT, Inventory, beginning_with, spelled_out

Refuse = Callable[[str], None]  # tells the judge what was called, and raises

DERIVE = ("aten::grad", "aten::backward", "aten::_backward")  # operators of TorchScript's alone, which call the engine
FORGET = "_ZN5torch3jit18deregisterOperatorERKN3c1014FunctionSchemaE"  # torch::jit::deregisterOperator, by its symbol
SCHEMA = 16  # where an object of pybind's has the address of what it stands for
EACH = ("apply_", "map_", "map2_")  # which call Python for each element
FILES: set[str] = set()  # of functions that refuse; run once more, they would not
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__or__", "__ror__")
PROFILER = "_profiler"  # in the name of a function that steers it
FLAGS, IMMUTABLE = 168, 1 << 8  # where a class of C's has its flags, and the one that forbids to change it


def refuser(path: str, telling: int) -> Refuse:
    """Makes the function that tells the judge, with the line of the submission at `path`, and raises."""
    frame_now, write, same = sys._getframe, os.write, str.__eq__  # a file may be named by a class of its own

    def refuse(name: str) -> None:
        try:
            frame: FrameType | None = frame_now()
            while frame is not None and not same(frame.f_code.co_filename, path):
                frame = frame.f_back
            line = "" if frame is None else frame.f_lineno
        except BaseException:  # not everybody may see frames: `guard`
            line = ""
        try:
            write(telling, f"\n! {name[:100]}\t{line}\n".encode())
        except BaseException:  # it was closed, or is full: what matters is that the call is refused
            line = ""
        raise RuntimeError(f"{name} may not be called in this kata")

    return opaque(sterile(refuse))  # it is in many a closure, and a function could be given other code


def instead_of(name: str, refuse: Refuse) -> Callable[..., Any]:
    """What takes the place of the function of that name."""

    def refused(*_: object, **__: object) -> None:
        refuse(name)

    return sterile(refused)


def take_away(stock: Inventory, banned: tuple[str, ...], refuse: Refuse) -> None:
    """Replaces all whose name, without leading underscores, begins with one of the banned words, and the exits."""
    if "autograd" in banned:
        take_away_autograd(stock, refuse)
    banned = spelled_out(banned)
    replace_kernels(
        (full_name, keys, instead_of(shown(word, full_name), refuse))
        for word, full_name, keys in beginning_with(banned, stock.operators)
    )
    for key, functions in [("", stock.exits), *beginning_with(banned, stock.functions)]:
        for function in functions:
            by_module = key not in function.__name__
            FILES.add(function.__code__.co_filename)
            name = f"{function.__module__}.{function.__qualname__}" if by_module else function.__name__
            function.__code__ = refusing(instead_of(name, refuse), function.__code__)
    for holder, name in stock.switches:
        holder[name] = instead_of("torch.profiler" if PROFILER in name else name.lstrip("_"), refuse)
    guarded = opaque(sterile(guarded_registrar(torch._C._dispatch_library)))
    for holder in stock.registrars:
        holder[REGISTER] = guarded
    methods = gc.get_referents(torch._C.TensorBase.__dict__)[0]  # a class of C's cannot be written to otherwise
    for name in (*EXITS, *EACH):
        if name in methods:
            methods[name] = instead_of(f"Tensor.{name}", refuse)
    compiler: Any = torch._C._te  # type: ignore[attr-defined]
    for one in (compiler.TensorExprKernel, compiler.LoopNest, compiler.CodeGen, compiler.SimpleIREvaluator):
        one.__init__ = instead_of("torch._C._te", refuse)
    for name in ("enable", "set_threshold", "freeze"):  # by which finalizers could run in the worker's thread, or hide
        vars(gc)[name] = opaque(sterile(nothing))
    for module in (_tracemalloc, tracemalloc):  # by which meter.py counts
        for name in ("start", "stop", "clear_traces", "reset_peak"):
            vars(module)[name] = opaque(sterile(nothing))
    change(MappingProxyType, {name: with_copy(name) for name in COMPARISONS})
    change(torch._C._profiler._RecordFunctionFast, {name: sterile(nothing) for name in ("__enter__", "__exit__")})
    for one, name in ((FrameType, "f_back"), (TracebackType, "tb_frame")):
        change(one, {name: property(opaque(frame_within_submission(one, name)))})
    change(FrameType, {name: property(sterile(nothing)) for name in ("f_trace", "f_trace_lines", "f_trace_opcodes")})
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(torch._C.TensorBase))


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
                libraries[namespace] = torch._C._dispatch_library("IMPL", namespace, "", "kata", 0)
            for key in keys:
                libraries[namespace].impl(name, key, kernel, False)
    for library in libraries.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # for ever: its end would undo what it did


def take_away_autograd(stock: Inventory, refuse: Refuse) -> None:
    """Leaves no way to a derivative: neither the engine and the nodes of its graph, nor forward mode, nor TorchScript.

    The worker itself has kept the engine's own function.
    """
    no = instead_of("autograd", refuse)
    engine: Any = type(torch.autograd.Variable._execution_engine)
    for one, name in ((engine, "run_backward"), (engine, "run_backward_from_worker"), (torch._C.TensorBase, "grad_fn")):
        methods = gc.get_referents(one.__dict__)[0]
        if name in methods:
            methods[name] = no if one is engine else property(sterile(nothing))
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(one))
    for one in vars(torch._C._functions).values():  # nodes, which hooks and contexts lead to, are callable
        if isinstance(one, type) and "__call__" in vars(one):
            change(one, {"__call__": no})
    for holder, name in stock.engines:
        holder[name] = no
    forget: Any = getattr(ctypes.CDLL(torch._C.__file__), FORGET, None)  # not under this name on Windows
    for schema in chain(*map(torch._C._jit_get_schemas_for_operator, DERIVE)) if forget else ():
        forget(ctypes.c_void_p.from_address(id(schema) + SCHEMA))


def nothing(*_: object) -> None: ...


class NoLibrary(NamedTuple):
    """Stands for a library of kernels that may not be made."""

    impl: Callable[..., Any]
    define: Callable[..., Any]
    fallback: Callable[..., Any]
    reset: Callable[..., Any]


def guarded_registrar(register: Callable[..., Any]) -> Callable[..., Any]:
    """For operators of one's own alone: other kernels for torch's would run where the worker takes results over.

    Those are left out and nobody is told: modules of torch's register some when they are imported late.
    """
    instead, kind, text = NoLibrary(*[sterile(nothing)] * len(NoLibrary._fields)), type, str
    elsewhere = ("Meta", "FuncTorchBatched")  # no tensor of the worker's gets there; torch.vmap registers some itself

    def checked(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        whose, namespace, key, *_ = arguments
        if kind(whose) is not text or kind(namespace) is not text or kind(key) is not text:
            raise RuntimeError("names should be texts")
        if namespace in ("aten", "_") and key not in elsewhere:
            raise RuntimeError("torch's own")
        return arguments

    return guarded(register, checked, instead)


def guarded(function: Callable[..., Any], checked: Callable[..., Any], instead: Any) -> Callable[..., Any]:
    """The function where `checked` does not raise, and `instead` where either does.

    It is reached only through C iterators, because a trace function could read it from a Python frame.
    """
    asked: SimpleQueue[Any] = SimpleQueue()
    ask = asked.put
    answer = opaque(starmap(function, map(sterile(checked), iter(asked.get_nowait, None))).__next__)

    def asking(*arguments: Any) -> Any:
        ask(arguments)
        try:
            return answer()
        except BaseException:
            return instead

    return asking


def change(one: type, attributes: dict[str, Any]) -> None:
    """Gives a class of C's other attributes, which Python alone would not."""
    flags = flags_of(one)
    flags.value &= ~IMMUTABLE
    for name, value in attributes.items():
        setattr(one, name, value)
    flags.value |= IMMUTABLE  # and no more: setting attributes has changed other flags


def freeze(one: type) -> None:
    """Lets nobody give a class other attributes: a method would run where the worker makes an instance."""
    flags_of(one).value |= IMMUTABLE


def flags_of(one: type) -> ctypes.c_ulong:
    flags = ctypes.c_ulong.from_address(id(one) + FLAGS)
    assert flags.value == one.__flags__, "the flags of a class should be where they were"
    return flags


def take_away_memory() -> None:
    """Leaves nothing of ctypes that does anything: audit hooks are told of little of what it does.

    It refuses nothing, for scipy makes a few of its pointers on import.
    """
    made = (_ctypes.Structure, _ctypes.Union, _ctypes.Array, _ctypes._Pointer, _ctypes._SimpleCData, _ctypes.CFuncPtr)
    for one in made:
        change(one, {"__new__": sterile(nothing)})
    change(_ctypes.CFuncPtr, {"__call__": sterile(nothing)})


def with_copy(name: str) -> Callable[..., Any]:
    """An operator of a mappingproxy that gives the other side a copy, not the dict of the class itself."""
    do, copied = getattr(operator, name.replace("ror", "or")), dict
    swapped = name == "__ror__"

    def operate(self: Any, other: object) -> Any:
        own = copied(self)
        return do(other, own) if swapped else do(own, other)

    return sterile(operate)


def frame_within_submission(one: type, attribute: str) -> Callable[[Any], FrameType | None]:
    """`f_back` of a frame, or `tb_frame` of a traceback, which is none of the worker's own.

    A finalizer may run on top of those, and while the worker handles an exception.
    """
    read, globals_of = one.__dict__[attribute].__get__, FrameType.__dict__["f_globals"].__get__
    get, kind, text, begins = dict.get, type, str, str.startswith

    def frame_of(holder: Any) -> FrameType | None:
        frame: FrameType | None = read(holder)
        name: Any = None if frame is None else get(globals_of(frame), "__name__")
        return None if kind(name) is text and begins(name, "graders.") else frame

    return sterile(frame_of)


def refusing(refused: Callable[..., Any], like: CodeType) -> CodeType:
    """Code that calls `refused`, for a function with as many free variables as that of `like`."""

    def template(*_: object, **__: object) -> object:
        called = "refused"
        return called()  # type: ignore[operator]  # replaced below

    code = template.__code__
    constants = tuple(refused if constant == "refused" else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_freevars=like.co_freevars)

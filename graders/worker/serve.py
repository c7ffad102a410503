"""Runs in the worker process: loads a submission, has it called, and sends back plain data. It judges nothing.

What is written here runs in the process's first thread, and the submission in another one.
"""

from __future__ import annotations

import _socket
import builtins
import faulthandler
import gc
import inspect
import io
import linecache
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from graders.worker import script, wire
from graders.worker.calls import call, set_grad_enabled
from graders.worker.communicator import CODE
from graders.worker.described import MESSAGE_LENGTH, Failed, mro_of, raised, results_of, text_of
from graders.worker.fortress import guards, outside, removal
from graders.worker.fortress.stock import Inventory
from graders.worker.protocol import LoadRequest, Printed, Reply

PRIMITIVE = (bool, int, float, str, type(None))
PRINTED_BYTES = 1 << 20
GPUS = "CUDA_VISIBLE_DEVICES"
KEPT = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", GPUS}  # of the environment
READY = b"!"
STACK_SIGNAL = getattr(signal, "SIGUSR1", None)  # makes a hung worker dump its stacks
parameters_of = inspect.Signature.__dict__["_parameters"].__get__
of_parameter = [inspect.Parameter.__dict__[name].__get__ for name in ("_default", "_name", "_kind")]
parameter_kinds: Any = type(inspect.Parameter.POSITIONAL_ONLY)
kinds = [(kind, kind.name) for kind in parameter_kinds]
signature_of, nothing = inspect.signature, inspect.Parameter.empty
basename = os.path.basename
lseek, read, truncate, START, END = os.lseek, os.read, os.ftruncate, os.SEEK_SET, os.SEEK_END


def serve_submissions(
    connection: socket.socket,
    telling: socket.socket,
    scratch: str,
    stock: Inventory,
    shut: Callable[[], None],
) -> None:
    """Answers requests until the judge hangs up.

    Args:
        telling: takes what is refused, and where a late call was.
        scratch: becomes the working directory, and takes what is printed.
        stock: what there is to remove.
        shut: forbids this process what only its preparation needed.
    """
    outside.THREAD.clear()  # no thread of the process that this was forked from is here
    # Of a class of C's, which cannot be changed.
    link, told = (_socket.socket(fileno=one.detach()) for one in (connection, telling))
    link.sendall(READY)  # its sender's pid comes with it
    log = prepare(link.fileno(), told.fileno(), scratch)
    number, folder = 0, os.path.join(scratch, "")

    def say(reply: Reply, tensors: list[Tensor]) -> None:
        nonlocal number
        number += 1
        wire.send(link, wire.pack(reply, tensors, key, number))

    try:
        came = wire.read(link, wire.KEY)
        key = bytes(came)
        came[:] = bytes(wire.KEY)  # numpy hands the same memory to whoever asks next for as much
        request, tensors = wire.receive(link)
        if request.get("cuda"):
            try:
                begin_cuda()
            except CudaUnusable as error:
                say({"raised": raised(error, request["path"])}, [])
                return
        else:
            os.environ[GPUS] = ""  # else torch's count of them loads a library, also where there are none
        if request["op"] == "script":  # it has a time limit of its own
            say(script.run(request, log), [])
            return
        loaded = list[tuple[ModuleType, str]]()  # each submission, and its path
        removal.LEARNER.append((request["path"], told.send))
        take_away(stock, tuple(request["banned"]), shut)
        while True:
            if request["op"] == "turn":
                module, path = loaded[request["to"]]
            else:
                if lseek(log, 0, END):  # torch has told of what was replaced
                    truncate(log, 0)
                if request["op"] == "load":
                    module, path = ModuleType("submission"), request["path"]
                    module.__file__ = folder + basename(path)  # a log can be written next to it
                    loaded.append((module, path))
                    reply, answer = load(module, request)
                else:
                    reply, answer = call(module, path, request, tensors)
                reply["printed"] = printed(log)
                say(reply, answer)
                del reply, answer
            request, tensors = wire.receive(link)
    except wire.Closed:
        return


def take_away(stock: Inventory, banned: tuple[str, ...], shut: Callable[[], None]) -> None:
    """Leaves a process in which no ordinary spelling reaches what is banned, and no import what is ours."""
    removal.take_away(stock, banned)
    shut()
    guards.guard()
    sys.modules["builtins"] = ModuleType("builtins")  # the submission's: it may replace what is there
    vars(sys.modules["builtins"]).update(vars(builtins))
    set_grad_enabled(False)  # for this thread, which runs nothing of the submission's,
    torch._C.DisableTorchFunction().__enter__()  # be it by a tensor whose class another thread changes meanwhile


def forget_modules(root: Path) -> None:
    """Takes our modules, what ran us, and the repository, from where a submission looks for modules."""
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != root]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("graders", "pytest", "_pytest")]:
        del sys.modules[name]
    sys.modules.pop("__mp_main__", None)  # as multiprocessing calls `__main__`
    sys.modules["__main__"] = ModuleType("__main__")
    sys.argv[:] = sys.orig_argv[:] = [""]


def prepare(connection: int, telling: int, scratch: str) -> int:
    """Leaves nothing of the judge's open or in the environment; returns the file that takes what is printed."""
    os.chdir(scratch)
    log = os.open("printed", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    if hasattr(os, "fork"):
        kept = sorted({2, connection, telling, log})
        for low, high in zip(kept, [*kept[1:], 4096], strict=True):
            os.closerange(low + 1, high)
    # Forked inside pytest, these may be pytest's; the file descriptors are ours again, and nothing has to be flushed.
    sys.stdin = os.fdopen(0)
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(fd, "w"), write_through=True) for fd in (1, 2))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]  # who wraps one anew does not close it
    for name in set(os.environ) - KEPT:
        del os.environ[name]
    os.environ |= {"HOME": scratch, "TMPDIR": scratch, "LOGNAME": "kata"}
    tempfile.tempdir = None  # which the process that this was forked from may have found elsewhere
    gc.unfreeze()  # many small objects cost here what they cost anywhere that torch is loaded
    torch.set_num_threads(1)
    if STACK_SIGNAL:
        faulthandler.register(STACK_SIGNAL, file=telling)
    return log


class CudaUnusable(Exception):
    """There is a GPU, but a worker cannot use it."""


def begin_cuda() -> None:
    """Makes what a GPU's first use makes: threads, open devices, libraries, of which a submission may make none.

    Raises: CudaUnusable.
    """
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
        torch.cuda.device_count()  # which is remembered from now on
        one = torch.ones(2, 2, device="cuda", requires_grad=True)
        (one @ one).sum().backward()  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
    except Exception as error:  # torch's and the driver's are of many classes
        raise CudaUnusable(f"{type(error).__name__}: {error}") from error


def printed(log: int) -> Printed:
    if not lseek(log, 0, END):  # which is quick to see
        return {"lines": 0, "text": ""}
    lseek(log, 0, START)
    text = read(log, PRINTED_BYTES).decode(errors="replace")
    return {"lines": text.count("\n"), "text": text[:MESSAGE_LENGTH]}


def load(module: ModuleType, request: LoadRequest) -> tuple[Reply, list[Tensor]]:
    """Imports the source and describes the names asked for."""
    path, source = request["path"], request["source"]
    guards.LOADING.append(None)
    sys.modules[module.__name__] = module
    vars(module)["__builtins__"] = vars(sys.modules["builtins"])
    for file in (path, str(module.__file__)):  # torch.jit reads it; inspect looks for a class in its module's file
        linecache.cache[file] = (len(source), None, io.StringIO(source).readlines(), file)
    try:
        (code,) = results_of(partial(compile, source, path, "exec", dont_inherit=True))
        CODE[module] = code
        results_of(outside.catching(partial(exec, code, module.__dict__)))
    except Failed as failure:
        return {"raised": raised(failure.args[0], path)}, []
    finally:
        guards.LOADING.clear()
    return {"names": {wanted: describe(module, wanted) for wanted in request["names"]}}, []


def describe(module: ModuleType, name: str) -> dict[str, Any] | None:
    """What is under a dotted name: whether it can be called, and its parameters where they can be told."""
    value: Any = module
    for part in name.split("."):
        found, error = outside.run(partial(getattr, value, part, None))
        if error is not None or found[0] is None:
            return None
        value = found[0]
    is_class = issubclass(type(value), type)
    kind = "class" if is_class else "function" if callable(value) else "other"
    if is_class and any(base is Module for base in mro_of(value)):
        kind = "module"
    signatures, _ = outside.run(partial(signature_of, value))
    try:
        ((given,), _) = outside.run(partial(methodcaller("values"), parameters_of(signatures[0])))
        ((listed,), _) = outside.run(partial(list, given))
        parameters = [parameter_in_words(one) for one in listed]
    except BaseException:  # there is none, or not a true one
        return {"kind": kind, "parameters": None}
    return {"kind": kind, "parameters": parameters[1 if "." in name else 0 :]}


def parameter_in_words(parameter: inspect.Parameter) -> dict[str, Any]:
    default, name, kind = [of(parameter) for of in of_parameter]
    optional = default is not nothing
    is_number = type(default) is int or type(default) is float
    if not any(type(default) is one for one in PRIMITIVE) or (
        is_number and not abs(default) < wire.LARGEST
    ):  # NaN is told in words, too
        default = text_of(repr, default)[:80]
    return {
        "name": str.__str__(name),
        "kind": next(word for one, word in kinds if one is kind),
        "optional": optional,
        "default": default,
    }

"""Runs in the worker process: loads a submission, calls it, and sends back plain data. It judges nothing."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import inspect
import linecache
import os
import random
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from graders import calls, script, wire
from graders.meter import Meter

PRIMITIVE = (bool, int, float, str, type(None))
MESSAGE_LENGTH = 500
PRINTED_BYTES = 1 << 20
KEPT = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT"}  # of the environment
READY = b"!"
REFUSALS = (ValueError, AssertionError)  # as they are before a submission can put others in their place
STACK_SIGNAL = getattr(
    signal, "SIGUSR1", None
)  # asks for where it is; a timer for each call takes longer than the call
Request = dict[str, Any]
Reply = dict[str, Any]


def serve(connection: socket.socket, stack_file: int | str, scratch: str, root: str) -> None:
    """Answers requests until the judge hangs up.

    `scratch` becomes the working directory, and takes what is printed; `stack_file` takes where a late call was.
    """
    connection.sendall(READY)  # its sender's pid comes with it
    os.chdir(scratch)
    log = os.open("printed", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    # Forked inside pytest, these may be pytest's; the file descriptors are ours again.
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, mode) for fd, mode in ((0, "r"), (1, "w"), (2, "w")))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("graders", "pytest", "_pytest")]:
        del sys.modules[name]  # with the root gone from sys.path, the engine cannot be imported again
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != Path(root)]
    torch.set_num_threads(1)
    gc.unfreeze()  # many small objects cost here what they cost anywhere that torch is loaded
    speaking = threading.Lock()  # threads of the submission may offend while the reply goes out

    def say(message: bytes) -> None:
        with speaking:
            wire.send(connection, message)

    def tell(name: str, line: int | None) -> None:
        say(wire.pack({"offence": name, "line": line}, []))

    module, limit = ModuleType("nothing"), 0.0
    for name in set(os.environ) - KEPT:
        del os.environ[name]
    os.environ |= {"HOME": scratch, "TMPDIR": scratch, "LOGNAME": "kata"}
    with open(stack_file, "w") as stack:
        if STACK_SIGNAL:
            faulthandler.register(STACK_SIGNAL, file=stack)
        while True:
            try:
                request, tensors = wire.receive(connection)
            except wire.Closed:
                return
            os.ftruncate(log, 0)
            if request["op"] == "script":  # it has a time limit of its own
                say(wire.pack(script.run(request, log), []))
                continue
            answer: list[Tensor] = []
            if request["op"] == "load":
                limit, watched = request["limit"], calls.Watch(request["banned"], request["path"], tell)
            if not STACK_SIGNAL:
                faulthandler.dump_traceback_later(limit, file=stack)
            if request["op"] == "load":
                reply, module = load(request)
            else:
                reply = call(module, watched, request, tensors, answer)
            if not STACK_SIGNAL:
                faulthandler.cancel_dump_traceback_later()
            reply["printed"] = printed(log)
            say(wire.pack(reply, answer))


def printed(log: int) -> dict[str, Any]:
    with contextlib.suppress(Exception):  # the submission may have replaced or closed them
        sys.stdout.flush()
        sys.stderr.flush()
    os.lseek(log, 0, os.SEEK_SET)
    text = os.read(log, PRINTED_BYTES).decode(errors="replace")
    return {"lines": text.count("\n"), "text": text[:MESSAGE_LENGTH]}


def load(request: Request) -> tuple[Reply, ModuleType]:
    """Imports the source and describes the names asked for."""
    path, source = request["path"], request["source"]
    module = ModuleType("submission")
    module.__file__ = path
    sys.modules[module.__name__] = module
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)  # torch.jit reads it
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
        return {"names": {wanted: describe(module, wanted) for wanted in request["names"]}}, module
    except BaseException as error:  # a submission may raise anything, SystemExit included
        return {"raised": raised(error, path)}, module


def describe(module: ModuleType, name: str) -> dict[str, Any] | None:
    """What is under a dotted name: whether it can be called, and its parameters where they can be told."""
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        return None
    kind = "module" if inspect.isclass(value) and issubclass(value, torch.nn.Module) else "other"
    found: dict[str, Any] = {
        "kind": kind if inspect.isclass(value) or not callable(value) else "function",
        "parameters": None,
    }
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return found
    found["parameters"] = [
        {
            "name": parameter.name,
            "kind": parameter.kind.name,
            "optional": parameter.default is not parameter.empty,
            "default": parameter.default if isinstance(parameter.default, PRIMITIVE) else repr(parameter.default)[:80],
        }
        for parameter in parameters[1 if "." in name else 0 :]
    ]
    return found


def call(
    module: ModuleType, watched: calls.Watch, request: Request, tensors: list[Tensor], answer: list[Tensor]
) -> Reply:
    """Makes one call, and where cotangents came with it, pulls them back. Tensors of the reply go to `answer`."""
    torch.set_num_threads(1)  # whatever was chosen on import: the time of all of them would count
    device = torch.device(request["device"])
    values = [tensor.to(device) for tensor in tensors]
    leaves = {name: values[index] for name, index in request["leaves"].items()}
    cotangents = [values[index] for index in request["cotangents"]]
    random.seed(0)
    torch.default_generator.manual_seed(0)
    reply: Reply = {}

    def send_back(tensor: Tensor) -> int:
        answer.append(tensor.detach().cpu())
        return len(answer) - 1

    try:
        for leaf in leaves.values():
            leaf.requires_grad_()
        with watched.functions() if request["watched"] else contextlib.nullcontext():
            meter = Meter(watched.path) if request["measured"] == "cost" else None
            if meter:
                target = build(module, request, values, leaves)  # constructing is not counted
            with watched.operators(meter):
                if not meter:
                    target = build(module, request, values, leaves)
                if request["arguments"] is not None:
                    with torch.no_grad() if request["no_grad"] else contextlib.nullcontext():
                        if request["rehearsed"]:
                            rehearse(target, request, values)
                        output = call_with(target, request, values)
                    reply["output"] = outline(output, send_back)
            if request["measured"] and leaves:
                cotangents = [slope(item) for item in tensors_of(output)]
            if cotangents:
                with meter.backward() if meter else contextlib.nullcontext():
                    pulled = pull_back(output, cotangents, leaves)
                reply["gradients"] = {
                    name: None if gradient is None else send_back(gradient) for name, gradient in pulled.items()
                }
        if device.type == "cuda":
            torch.cuda.synchronize()  # what it left to other streams counts, and fails, here
        if meter:
            reply["cost"] = meter.cost()
        reply["inputs"] = {name: send_back(values[index]) for name, index in request["return_inputs"].items()}
    except BaseException as error:  # a submission may raise anything, SystemExit included
        reply["raised"] = raised(error, watched.path)
    return reply


class Misfit(Exception):
    """The module lacks a parameter that the contract names, or has it in another shape."""


def build(module: ModuleType, request: Request, values: list[Tensor], leaves: dict[str, Tensor]) -> Callable[..., Any]:
    """The function, or the module constructed and given the judge's parameters, which join the leaves."""
    target = getattr(module, request["target"])
    if request["init"] is None:
        return target  # type: ignore[no-any-return]  # whatever the submission defined under that name
    instance = target(**request["init"])
    parameters = {name: values[index] for name, index in request["parameters"].items()}
    if parameters:
        instance.to(device=next(iter(parameters.values())).device, dtype=next(iter(parameters.values())).dtype)
        own = dict(instance.named_parameters(remove_duplicate=False))
        with torch.no_grad():
            for name, value in parameters.items():
                if name not in own or own[name].shape != value.shape:
                    got = tuple(own[name].shape) if name in own else "no such parameter"
                    raise Misfit(f"{name} should have shape {tuple(value.shape)}, got {got}")
                own[name].copy_(value)
        if request["cotangents"] or request["measured"]:
            leaves.update({name: own[name] for name in parameters})
    if request["evaluating"]:
        instance.eval()
    return instance  # type: ignore[no-any-return]  # whatever the submission defined under that name


def call_with(target: Callable[..., Any], request: Request, values: list[Tensor]) -> Any:
    positional = [value_of(argument, values) for argument in request["arguments"]]
    return target(*positional, **{name: value_of(argument, values) for name, argument in request["keywords"].items()})


def rehearse(target: Callable[..., Any], request: Request, values: list[Tensor]) -> None:
    """Calls whose results do not matter: with the arguments of another call, and with other values of these shapes."""
    with contextlib.suppress(Exception):
        target(**{name: value_of(argument, values) for name, argument in request["before"].items()})
    others = [
        value.detach().abs().sqrt().requires_grad_(value.requires_grad) if value.is_floating_point() else value.clone()
        for value in values
    ]
    for value in others:
        if not value.is_floating_point() and value.dim():
            value.copy_(value.flip(0))
            break  # one, so that pairs of labels do not stay the same pairs
    with contextlib.suppress(Exception):
        call_with(target, request, others)


def value_of(argument: Any, values: list[Tensor]) -> Any:
    return values[argument["tensor"]] if isinstance(argument, dict) else argument


def outline(output: Any, send_back: Callable[[Tensor], int]) -> dict[str, Any]:
    """{"tensor": i} for a tensor, {"tuple": [...]} for a tuple, else {"other": what it is}."""
    if isinstance(output, tuple):
        return {"tuple": [outline(item, send_back) for item in output[:16]]}
    if not isinstance(output, Tensor):
        return {"other": "None" if output is None else f"{type(output).__module__}.{type(output).__qualname__}"}
    if output.layout != torch.strided or wire.dtype_name(output.dtype) not in wire.DTYPES:
        return {"other": f"a {output.layout} tensor of {output.dtype}"}
    return {"tensor": send_back(output.contiguous()), "device": output.device.type}


def tensors_of(output: Any) -> list[Tensor]:
    return [item for item in (output if isinstance(output, tuple) else (output,)) if isinstance(item, Tensor)]


def slope(output: Tensor) -> Tensor:
    """A cotangent for calls whose cost is measured, under which a softmax's gradient is not zero."""
    return torch.linspace(-1, 1, max(output.numel(), 1), device=output.device)[: output.numel()].reshape(output.shape)


def pull_back(output: Any, cotangents: list[Tensor], leaves: dict[str, Tensor]) -> dict[str, Tensor | None]:
    """The gradient of Σ⟨output, cotangent⟩ with respect to each leaf; None where nothing flows."""
    pairs = [(item, c) for item, c in zip(tensors_of(output), cotangents, strict=True) if item.requires_grad]
    if not pairs:
        return dict.fromkeys(leaves)
    # The sum is the inner product; `grad_outputs` would say the same, but makes torch import sympy, which takes 0.4 s.
    total = torch.stack([(item * c.to(item.dtype)).sum() for item, c in pairs]).sum()
    gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return dict(zip(leaves, gradients, strict=True))


def raised(error: BaseException, path: str) -> dict[str, Any]:
    """The exception in words, and the last line of the submission that it passed through."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == path else None
    for frame in traceback.extract_tb(error.__traceback__):
        line = frame.lineno if frame.filename == path else line
    message = (error.msg or "") if isinstance(error, SyntaxError) else str(error)
    refusal = issubclass(type(error), REFUSALS)  # isinstance would believe a __class__ that lies
    return {"type": type(error).__name__, "refusal": refusal, "message": message[:MESSAGE_LENGTH], "line": line}

"""What judge and worker say to each other, as the judge sees it: one call asked, and what came back of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from graders import wire

Measured = Literal["", "time", "cost"]
FIGURES = ("operators", "written", "peak", "lines", "line")


@dataclass(frozen=True, eq=False)
class Request:
    """One call of the submission, with everything that decides its outcome."""

    target: str
    arguments: Mapping[str, Any] | None  # None: only construct
    positional: int  # how many of them are passed by position
    init: Mapping[str, Any] | None = None
    parameters: Mapping[str, Tensor] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()  # the inputs that gradients are asked for
    cotangents: tuple[Tensor, ...] = ()
    watched: bool = False  # for what it calls, not only for torch's operators
    return_inputs: bool = False  # as they are after the call
    inference: bool = False  # under no_grad, a module in eval mode
    rehearsed: bool = False  # the same instance is first called with `before`, and with other values of these shapes
    before: Mapping[str, Any] = field(default_factory=dict)  # the arguments of another call of the case
    measured: Measured = ""  # cotangents are made by the worker then, and gradients asked for where there are leaves
    device: str = "cpu"

    @property
    def text(self) -> str:
        """The call in words."""
        return describe_call(self.target, self.init, self.arguments or {})

    @functools.cached_property
    def message(self) -> bytes:
        """As it is sent; equal requests have equal messages."""
        tensors: list[Tensor] = []
        where: dict[str, int] = {}

        def plain(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            tensors.append(value)
            return {"tensor": len(tensors) - 1}

        arguments = None if self.arguments is None else {name: plain(value) for name, value in self.arguments.items()}
        for name, value in (arguments or {}).items():
            if isinstance(value, dict):
                where[name] = value["tensor"]
        names = list(arguments or {})
        header = {
            "op": "call",
            "target": self.target,
            "init": None if self.init is None else dict(self.init),
            "parameters": {name: plain(value)["tensor"] for name, value in self.parameters.items()},
            "arguments": None if arguments is None else [arguments[name] for name in names[: self.positional]],
            "keywords": {name: (arguments or {})[name] for name in names[self.positional :]},
            "leaves": {name: where[name] for name in self.leaves if name in where},
            "cotangents": [plain(cotangent)["tensor"] for cotangent in self.cotangents],
            "watched": self.watched,
            "return_inputs": where if self.return_inputs else {},
            "inference": self.inference,
            "rehearsed": self.rehearsed,
            "measured": self.measured,
            "before": {name: plain(value) for name, value in self.before.items()} if self.rehearsed else {},
            "device": self.device,
        }
        return wire.pack(header, tensors)


@dataclass(frozen=True)
class Raised:
    """An exception, in plain data."""

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None


@dataclass(frozen=True)
class Cost:
    """What a call cost; see meter.py."""

    operators: int
    written: int
    peak: int
    lines: int  # how often the line that runs most often did
    line: int  # which that is


@dataclass(frozen=True)
class Reply:
    """What came back: plain data, or how the worker ended."""

    outputs: tuple[Tensor | str, ...] = ()  # a string says what was returned in place of a tensor
    is_tuple: bool = False
    devices: tuple[str, ...] = ()
    raised: Raised | None = None
    gradients: Mapping[str, Tensor | None] = field(default_factory=dict)
    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    calls: tuple[tuple[str, int | None], ...] = ()
    printed: str = ""
    lines: int = 0
    cost: Cost | None = None
    seconds: float = 0.0  # of the processor, where the system tells, else of the clock
    died: str = ""
    hung: bool = False


def raised_of(reply: Mapping[str, Any]) -> Raised | None:
    found = reply.get("raised")
    if found is None:
        return None
    line = found["line"] if isinstance(found["line"], int) else None
    return Raised(str(found["type"]), tuple(map(str, found["bases"])), str(found["message"]), line)


def reply_of(header: dict[str, Any], tensors: list[Tensor]) -> Reply:
    """Reads what the worker sent. Raises KeyError, TypeError, ValueError, ... where it is not what a worker sends."""
    output = header.get("output", {"tuple": []})
    is_tuple = "tuple" in output
    items = output["tuple"] if is_tuple else [output]
    return Reply(
        outputs=tuple(
            tensors[item["tensor"]] if "tensor" in item else str(item.get("other", "a tuple")).removeprefix("builtins.")
            for item in items
        ),
        is_tuple=is_tuple,
        devices=tuple(str(item.get("device", "")) for item in items),
        raised=raised_of(header),
        gradients={
            name: None if index is None else tensors[index] for name, index in header.get("gradients", {}).items()
        },
        inputs={name: tensors[index] for name, index in header.get("inputs", {}).items()},
        cost=Cost(**{figure: int(header["cost"][figure]) for figure in FIGURES}) if "cost" in header else None,
        printed=str(header["printed"]["text"])[:500],
        lines=int(header["printed"]["lines"]),
    )


def describe_call(target: str, init: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> str:
    """`MultiHeadAttention(embed_dim=8, num_heads=4)(query[2, 5, 8] float32, mask[5] bool)`"""

    def one(name: str, value: Any) -> str:
        if isinstance(value, Tensor):
            return f"{name}{list(value.shape)} {wire.dtype_name(value.dtype)}"
        return f"{name}={value!r}"

    call = ", ".join(one(name, value) for name, value in arguments.items())
    if init is None:
        return f"{target}({call})"
    return f"{target}({', '.join(one(name, value) for name, value in init.items())})({call})"


def floating(arguments: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """The arguments with every floating tensor cast; the others are left alone."""
    return {
        name: value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
        for name, value in arguments.items()
    }

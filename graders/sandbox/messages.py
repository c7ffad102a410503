"""What judge and worker say to each other, as the judge sees it: one call asked, and what came back of it."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from graders.kata.tolerances import Tolerance, dtype_name
from graders.sandbox.returned import Returned, count_in, few, name_in, result_in, tensor_in, text_in
from graders.worker import wire
from graders.worker.protocol import Beside, CallRequest, Way
from graders.worker.visible import LONGEST

Measured = Literal["", "time", "cost"]
SHOWN = 100  # characters of an argument that is a long text or list
ALLOCATES = re.compile(r"you tried to allocate (\d{1,19}) bytes")  # as torch's allocator says it
FIGURES = ("operators", "written", "peak", "lines", "line")
# Where a reply is not what a worker sends.
NO_ANSWER = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)


@dataclass(frozen=True, eq=False)
class Request:
    """One call of the submission, or a scenario with it, with everything that decides its outcome."""

    target: str  # the name to call
    answers: tuple[str, ...]  # all that it takes of the submission
    arguments: Mapping[str, Any] | None  # None: only construct
    positional: int  # how many of them are passed by position
    constructor_arguments: Mapping[str, Any] | None = None
    parameters: Mapping[str, Tensor] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()  # the inputs that require grad
    cotangents: tuple[Tensor, ...] = ()  # where gradients are asked for
    watched: bool = False  # whether its tensors are left as they are
    shared: tuple[str, ...] = ()  # arguments that are one tensor
    ways: tuple[Way, ...] = ()  # in which it is made otherwise than in the simplest way
    beside: Beside = ""  # when it is called with other values, too
    earlier_arguments: Mapping[str, Any] = field(default_factory=dict)  # of another call of the case, if it has several
    measured: Measured = ""  # cotangents are made by the worker then, and gradients asked for where there are leaves
    device: str = "cpu"
    mode: str = ""  # in words, where it is not the usual one
    tolerance: Tolerance | None = None  # of what comes back, where the case has one of its own
    rough: bool = False  # whether its gradients need only be finite
    scenario: str = ""  # the source of a function that is called in place of the target, given the answers
    refusable: bool = False  # its arguments are bad, and should be refused
    or_index: bool = False  # an IndexError refuses them as well
    # What a kata's own test says of the result, which is not sent: its form, and what the judge makes of it.
    form: Callable[[Request, Returned], None] | None = None  # raises CheckFailed where the result has another one
    summary: Callable[[Any], Any] | None = None

    def told(self, result: Returned) -> Any:
        """The result, or its summary, once its form has been compared. Raises: CheckFailed."""
        if self.form:
            self.form(self, result)
        return self.summary(result) if self.summary else result

    @property
    def refusal(self) -> str:
        """What it should raise, in words."""
        return "ValueError or IndexError" if self.or_index else "ValueError"

    @property
    def unusual(self) -> bool:
        """Whether the call is made in another way than the simplest, its dtype apart."""
        return ", " in self.mode

    @functools.cached_property
    def has_tensors(self) -> bool:
        """Whether something says on which device results should be."""
        return any(isinstance(value, Tensor) for value in (*(self.arguments or {}).values(), *self.parameters.values()))

    @property
    def text(self) -> str:
        """The call in words."""
        return self.with_comment(self.mode)

    @property
    def given(self) -> dict[str, str]:
        """Each argument in few words, for whoever knows the function: `x[3, 4]`, `normalized_shape=[4]`."""
        return {name: argument_in_words(name, value, typed=False) for name, value in (self.arguments or {}).items()}

    def with_comment(self, comment: str) -> str:
        """The call in words, a comment behind it, and below it what a scenario does."""
        comment = ", ".join(filter(None, (comment, "" if self.device == "cpu" else f"on {self.device}")))
        call = describe_call(self.target, self.constructor_arguments, self.arguments)
        first = f"{call}  # {comment}" if comment else call
        return f"{first}\n{body_of(self.scenario)}" if self.scenario else first

    def in_words(self, subject: str) -> str:
        """The subject of a message: `values (float32, under no_grad)`."""
        return f"{subject} ({self.mode})" if self.mode else subject

    @functools.cached_property
    def message(self) -> bytes:
        """As it is sent; equal requests have equal messages."""
        tensors: list[Tensor] = []
        where: dict[str, int] = {}

        def plain(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return {"tuple": value} if isinstance(value, tuple) else value
            tensors.append(value)
            return {"tensor": len(tensors) - 1}

        arguments = None if self.arguments is None else {name: plain(value) for name, value in self.arguments.items()}
        for name, value in (arguments or {}).items():
            if isinstance(value, dict) and "tensor" in value:
                where[name] = value["tensor"]
        for name in self.shared:
            where[name] = where[self.shared[0]]
        init = self.constructor_arguments
        made = None if init is None else {name: plain(value) for name, value in init.items()}
        given = (arguments or {}) | {name: {"tensor": where[name]} for name in self.shared}
        names = list(given)
        earlier = self.earlier_arguments if self.beside in ("before", "often") else {}
        header: CallRequest = {
            "op": "call",
            "target": self.target,
            "scenario": self.scenario,
            "answers": self.answers,
            "init": made,
            "parameters": {name: plain(value)["tensor"] for name, value in self.parameters.items()},
            "arguments": None if arguments is None else [given[name] for name in names[: self.positional]],
            "keywords": {name: given[name] for name in names[self.positional :]},
            "leaves": {name: where[name] for name in self.leaves if name in where},
            "cotangents": [plain(cotangent)["tensor"] for cotangent in self.cotangents],
            "watched": where if self.watched else {},
            "ways": self.ways,
            "beside": self.beside,
            "measured": self.measured,
            "earlier": {name: plain(value) for name, value in earlier.items()},
            "device": self.device,
        }
        return wire.pack(header, tensors)


@dataclass(frozen=True)
class Raised:
    """An exception, in plain data."""

    type: str
    refusal: bool  # a ValueError or an AssertionError, or an IndexError where that counts
    message: str
    line: int | None

    @property
    def wanted(self) -> int | None:
        """Bytes that torch's allocator was asked for, and did not get."""
        asked = ALLOCATES.search(self.message)
        return int(asked[1]) if asked else None

    @property
    def out_of_memory(self) -> bool:
        return self.type == "MemoryError" or self.wanted is not None


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

    result: Returned = None
    devices: tuple[str, ...] = ()  # of the tensors in it
    learning: tuple[bool, ...] = ()  # whether each of them requires grad
    raised: Raised | None = None
    gradients: Mapping[str, Tensor | None] = field(default_factory=dict)
    changed: Mapping[str, Tensor] = field(default_factory=dict)  # inputs that are not what they were, bit for bit
    marked: Mapping[str, str] = field(default_factory=dict)  # inputs, and what else of them is not what it was
    left: tuple[str, ...] = ()  # what of torch's state is not what it was
    messages: tuple[str, ...] = ()  # what ranks sent each other, a line each
    banned_calls: tuple[tuple[str, int | None], ...] = ()
    printed: str = ""
    printed_lines: int = 0
    cost: Cost | None = None
    seconds: float = 0.0  # of the processor, where the system tells, else of the clock
    died: str = ""
    timed_out: bool = False

    @property
    def cut_short(self) -> bool:
        """For lack of time or memory, of which another call may have the little more that it takes."""
        return self.timed_out or bool(self.raised and self.raised.out_of_memory)


def raised_of(reply: Mapping[str, Any], or_index: bool = False) -> Raised | None:
    """Raises: NO_ANSWER."""
    found = reply.get("raised")
    if found is None:
        return None
    line = None if found["line"] is None else count_in(found["line"])
    refusal = found["refusal"] is True or (or_index and found["index"] is True)
    return Raised(name_in(found["type"]), refusal, text_in(found["message"]), line)


def reply_of(
    header: dict[str, Any],
    tensors: list[Tensor],
    seconds: float = 0.0,
    banned_calls: tuple[tuple[str, int | None], ...] = (),
    or_index: bool = False,
) -> Reply:
    """Reads what the worker sent; the judge itself knows the rest. Raises: NO_ANSWER."""
    printed, lines = printed_of(header)
    kinds: list[tuple[str, bool]] = []
    return Reply(
        result=result_in(header["output"], tensors, kinds) if "output" in header else None,
        devices=tuple(device for device, _ in kinds),
        learning=tuple(learns for _, learns in kinds),
        raised=raised_of(header, or_index),
        gradients={
            name_in(name): None if index is None else tensor_in(index, tensors)
            for name, index in few(header.get("gradients", {})).items()
        },
        changed={name_in(name): tensor_in(index, tensors) for name, index in few(header.get("changed", {})).items()},
        marked={name_in(name): name_in(what) for name, what in few(header.get("marked", {})).items()},
        left=tuple(name_in(what) for what in few(header.get("left", []))),
        cost=Cost(**{figure: count_in(header["cost"][figure]) for figure in FIGURES}) if "cost" in header else None,
        messages=tuple(map(message_in, few(header.get("messages", [])))),
        banned_calls=banned_calls,
        printed=printed,
        printed_lines=lines,
        seconds=seconds,
    )


def message_in(row: Any) -> str:
    """`step 3: rank 1 → 2, 2 numbers: 0.5, -3`. Raises: NO_ANSWER."""
    rank, what, other, numbers, _, step, values = row
    to = f" → {count_in(other)}" if what == "send" else f": {name_in(what)}"
    shown = f": {name_in(values)}" if values else ""
    return f"step {count_in(step)}: rank {count_in(rank)}{to}, {count_in(numbers):,} numbers{shown}"


@functools.cache
def body_of(scenario: str) -> str:
    """What stands in the function below its docstring, as code."""
    (function,) = ast.parse(scenario).body
    assert isinstance(function, ast.FunctionDef)
    body = function.body[1:] if ast.get_docstring(function) else function.body
    lines = scenario.splitlines()[body[0].lineno - 1 :]
    return textwrap.dedent("\n".join(lines))


def names_of(reply: Mapping[str, Any], names: list[str]) -> dict[str, dict[str, Any] | None]:
    """What was found under each name when the submission was imported. Raises: NO_ANSWER."""
    found = {name: reply["names"][name] for name in names}
    return {
        name: None
        if there is None
        else {
            "kind": text_in(there["kind"]),
            "parameters": None
            if there["parameters"] is None
            else [
                {
                    "name": name_in(parameter["name"]),
                    "kind": text_in(parameter["kind"]),
                    "optional": parameter["optional"] is True,
                    "default": default_in(parameter["default"]),
                }
                for parameter in few(there["parameters"])
            ],
        }
        for name, there in found.items()
    }


def printed_of(reply: Mapping[str, Any]) -> tuple[str, int]:
    """What was printed, and its lines. Raises: NO_ANSWER."""
    return text_in(reply["printed"]["text"]), count_in(reply["printed"]["lines"])


def default_in(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else name_in(value)


def describe_call(target: str, init: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None) -> str:
    """`MultiHeadAttention(embed_dim=8, num_heads=4)(query[2, 5, 8] float32, mask[5] bool)`"""

    call = ", ".join(argument_in_words(*pair) for pair in (arguments or {}).items())
    if init is None:
        return f"{target}({call})"
    made = f"{target}({', '.join(argument_in_words(*pair) for pair in init.items())})"
    return made if arguments is None else f"{made}({call})"


def argument_in_words(name: str, value: Any, typed: bool = True) -> str:
    """`query[2, 5, 8] float32`, `num_heads=4`"""
    if isinstance(value, Tensor):
        shape = list(value.shape) if value.dim() else f"=tensor({value.item():g})"
        return f"{name}{shape}{f' {dtype_name(value.dtype)}' * typed}"
    text = repr(value)
    return f"{name}={text if len(text) <= LONGEST else f'{text[:SHOWN]}… ({len(text):,} characters)'}"


def floating(arguments: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """The arguments with every floating tensor cast; the others are left alone."""
    return {
        name: value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
        for name, value in arguments.items()
    }

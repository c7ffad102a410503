"""What judge and worker send each other: the headers of their messages. Tensors follow as bytes, see wire.py.

A number stands for a tensor, by its place among those that come with the message.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

# When the same function or instance is called with other values, too: not at all, first (once or twice, or seven
# times), or before the result is read.
Beside = Literal["", "before", "often", "after"]
# In which other ways than the simplest a call is made: see judge/modes.py.
Way = Literal["part", "parameters", "no_grad", "inference", "twice", "evaluating", "switched"]


class LoadRequest(TypedDict):
    """The first message: read a submission. The reply has `names` or `raised`.

    Known answers share a worker: then more of these come, and the calls after each are its own.
    """

    op: Literal["load"]
    path: str
    source: str
    names: list[str]  # whose kinds and parameters are asked
    banned: tuple[str, ...]
    cuda: bool  # whether calls on a GPU will come; else none is seen


class TurnRequest(TypedDict):
    """The calls from here on are those of another submission that was read. No reply comes."""

    op: Literal["turn"]
    to: int  # by the order in which they were read


class ScriptRequest(TypedDict):
    """The first and only message: run a script of the learner's own, see script.py. The reply has `text`, `status`."""

    op: Literal["script"]
    files: dict[str, str]  # name -> source, all in the working directory
    main: str  # which of them to run
    limit: float  # seconds
    width: int  # columns


class CallRequest(TypedDict):
    """Every later message: make one call."""

    op: Literal["call"]
    target: str  # what to call: the submission's, or the scenario
    scenario: str  # its source, or nothing
    answers: tuple[str, ...]  # what a scenario is given of the submission
    init: dict[str, Any] | None  # a module's constructor's arguments
    parameters: dict[str, int]  # what a module's are set to
    arguments: list[Any] | None  # by position; None only constructs
    keywords: dict[str, Any]
    leaves: dict[str, int]  # arguments that require grad
    cotangents: list[int]  # where gradients are asked for
    watched: dict[str, int]  # arguments that should be left as they are
    ways: tuple[Way, ...]
    beside: Beside
    earlier: dict[str, Any]  # arguments of another call of the case, if it has several
    measured: Literal["", "time", "cost"]
    device: str


class Printed(TypedDict):
    """What the submission printed, and how many lines that are."""

    lines: int
    text: str


class Reply(TypedDict, total=False):
    """What the worker answers; whatever a submission could have had a hand in is not believed."""

    names: dict[str, dict[str, Any] | None]  # of `load`: kind and parameters by name
    output: dict[str, Any]  # of `call`, as described.py describes it
    gradients: dict[str, int | None]
    changed: dict[str, int]  # of the watched arguments those that are not what they were, or have NaN
    marked: dict[str, str]  # and what else of them is not what it was
    left: list[str]  # what of torch's state is not what it was
    cost: dict[str, int]  # see meter.py
    raised: dict[str, Any]
    messages: list[list[Any]]  # what ranks sent in the last run: the rank, then a row of communicator.py's
    printed: Printed
    text: str  # of a script: what it printed
    status: int | None  # and its exit status, None where it took too long

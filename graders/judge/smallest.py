"""The smallest failing call: the inputs of one that failed, made simpler while the answer fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

import torch
from torch import Tensor

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import CheckFailed, GraderError
from graders.judge.briefly import Wrong, call_in_brief, difference
from graders.judge.expected import Expected
from graders.judge.results import Result
from graders.judge.run import source_of
from graders.judge.simpler import Inputs, Step, inputs_of, is_floating, like_at_first, steps
from graders.judge.vectors import TestVectors
from graders.judge.warm import Interruptible
from graders.kata.draw import Draw
from graders.kata.spec import Answer, Case
from graders.kata.tolerances import FULL, TOLERANCES, Tolerance, dtype_name
from graders.sandbox.messages import Reply, Request
from graders.sandbox.submission import Submission

MOST_CALLS = 100  # of the answer
MOST_SECONDS = 0.5
MOST_GIVEN = 2000  # numbers that are begun with
MOST_STARTS = 3
MARGIN = 10  # times as far from what is right as rounding may bring an answer
HURRIED = 2  # times that the time of a call is halved
OURS = ("GradientOverwritten", "ParameterMismatch")  # what the worker raises, whatever the numbers are
LONGEST = 240  # characters
NEAR = 1e-4  # how far numbers are moved, relative to themselves and beside that
NEARLY = Tolerance(0.1, 0.1, 0.1)  # and what is right may move with them


@dataclass(frozen=True, eq=False)
class Smallest:
    """A call in words, with what it gives and what it should, and as it is made."""

    text: str
    request: Request


@dataclass(frozen=True, eq=False)
class Failure(Wrong):
    """How a call fails, and what is right there."""

    request: Request
    right: Reply
    expected: Expected | None  # None where it should be refused


@dataclass(frozen=True, eq=False)
class Start:
    """A failing call, in the simplest way in which it is made."""

    answer: Answer
    case: Case
    dtype: torch.dtype
    gradients: bool
    inputs: Inputs


def smallest(kata: Kata, result: Result, launcher: Interruptible) -> Smallest | None:
    """Calls the answer once more, and the reference. None where no failing call gets small. Raises: Interrupted."""
    if not kata.reference_file.exists():
        return None
    launcher.judging, until = True, time.monotonic() + MOST_SECONDS
    source = Source(result.source_text, result.source)
    own = Submission(source, kata.grader.names, launcher, kata.grader.banned)
    right = Submission(source_of(kata, kata.reference_file), kata.grader.names, launcher)
    try:
        found = (Search(kata, start, own, right, until).smallest() for start in starts(kata, result))
        return next(filter(None, found), None)
    finally:
        launcher.judging = False
        own.close()
        right.close()


def starts(kata: Kata, result: Result) -> list[Start]:
    """Calls with wrong values first, then those that should be refused, then wrong gradients; small ones first."""
    found = []
    cases = {case.name: (answer, case) for answer in kata.grader.answers for case in answer.cases}
    for failed in result.failures:
        request = result.requests.get(failed.name)
        name, *dtype = failed.name.split("/")[1:]
        if not request or failed.state != "fail" or failed.on_gpu or failed.category == "shapes" or name not in cases:
            continue
        (answer, case), inputs, gradients = cases[name], inputs_of(request), failed.category == "gradients"
        if request.unusual or "ranks" in inputs.arguments or inputs.numbers > MOST_GIVEN:
            continue
        start = Start(answer, case, getattr(torch, dtype[0]) if dtype else case.dtypes[0], gradients, inputs)
        found.append(((gradients, bool(case.raises), not failed.core, inputs.numbers), start))
    return [start for _, start in sorted(found, key=lambda one: one[0])][:MOST_STARTS]


class Ones(Draw):
    """Gradients are pulled back from a result's sum."""

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.ones(shape, dtype=torch.float64)


class OneCall(TestVectors):
    """With the parameters that are given, and gradients pulled back from ones."""

    def __init__(self, kata: Kata, given: Inputs) -> None:
        super().__init__(kata.id, kata.grader, "")
        self.given = given

    def draw(self, name: str) -> Draw:
        return Ones(name)

    def _parameters(self, answer: Answer, case: Case, dtype: torch.dtype) -> dict[str, Tensor]:
        return {name: value.to(dtype, copy=True) for name, value in self.given.parameters.items()}


class Search:
    """Goes on from simpler inputs wherever the answer fails in the same way, and the reference does as the oracle."""

    def __init__(self, kata: Kata, start: Start, own: Submission, right: Submission, until: float) -> None:
        self.kata, self.start, self.own, self.right, self.until = kata, start, own, right, until
        self.answer, self.dtype = start.answer, start.dtype
        self.way = ""  # in which the first call fails
        self.finite = True  # whether that should give finite numbers
        self.known: dict[bytes, Failure | None] = {}  # by the call's message
        self.robust = True  # whether it fails next to that also

    def smallest(self) -> Smallest | None:
        self.own.hangs = self.right.hangs = HURRIED
        first = self.failure(self.start.inputs)
        if not first or first.way in OURS:
            return None
        self.way = first.way
        self.use_float32(self.start.inputs)
        inputs = self.shrunk()
        self.use_float32(inputs)
        self.own.close()  # nothing that an earlier call has left decides
        self.own.replies.clear()
        self.known.clear()
        last = self.failure(inputs)
        text = self.told(last) if last else ""
        return Smallest(text, last.request) if last and len(text) <= LONGEST else None

    def use_float32(self, inputs: Inputs) -> None:
        """Where it fails there also: these are the numbers that one writes."""
        dtype, self.dtype = self.dtype, torch.float32
        if dtype not in FULL or torch.float32 not in self.start.case.dtypes or not self.failure(inputs):
            self.dtype = dtype

    def told(self, last: Failure) -> str:
        before = "pulled back from ones, " * self.start.gradients
        given = (*(last.request.arguments or {}).values(), *last.request.parameters.values())
        after = f", in {dtype_name(self.dtype)}" if self.dtype != torch.float32 and any(map(is_floating, given)) else ""
        return f"{before}{call_in_brief(last.request)} {last.told()}{after}"

    def shrunk(self) -> Inputs:
        inputs = self.start.inputs
        self.robust = self.fails_nearby(inputs)
        for step in 2 * steps(self.answer):  # with simpler numbers, more rows can go
            while simpler := next(self.failing(step, inputs), None):
                inputs = simpler
        return inputs

    def failing(self, step: Step, inputs: Inputs) -> Iterator[Inputs]:
        """What a step makes of the inputs with which the answer still fails, while there is time."""
        for made in step(inputs):
            if len(self.known) >= MOST_CALLS or time.monotonic() > self.until:
                return
            one = like_at_first(self.start.inputs, made)
            if one.complexity < inputs.complexity and self.failure(one) and (not self.robust or self.fails_nearby(one)):
                yield one

    def fails_nearby(self, inputs: Inputs) -> bool:
        """Whether a small change leaves the failure, and nearly what is right: then no tie decides, and no edge."""
        here = self.failure(inputs)
        if not here or not here.expected:
            return False
        both = [self.failure(inputs.nearby(by)) for by in (NEAR, -NEAR)]
        return all(there and not difference(there.right, here.expected, self.start.gradients, NEARLY) for there in both)

    def failure(self, inputs: Inputs) -> Failure | None:
        """None where the answer does not fail as it did at first, or nobody knows what is right."""
        given = inputs.arguments
        case = replace(
            self.start.case,
            inputs=(lambda draw: dict(given)) if self.start.case.inputs else None,
            init=inputs.init,
            sizes={},
            dtypes=(self.dtype,),
            gradients="exact" if self.start.gradients else "none",
        )
        vectors = OneCall(self.kata, inputs)
        try:
            (request,) = vectors.requests(self.answer, case, self.dtype, gradients=self.start.gradients)
            if request.message not in self.known:
                self.known[request.message] = None
                found = self.refused(request) if case.raises else self.wrong(request, case, vectors)
                self.known[request.message] = found if found and self.way in ("", found.way) else None
            return self.known[request.message]
        except (CheckFailed, GraderError, RuntimeError):  # the last of autograd, where nothing depends on an input
            return None

    def refused(self, request: Request) -> Failure | None:
        """By the reference in the same line as at first, so for the same reason. Raises: CheckFailed."""
        right = self.right.ask(request)
        if not right.raised or not right.raised.refusal:
            return None
        own = self.own.ask(request)
        if own.died or own.banned_calls or (own.raised and own.raised.refusal):
            return None
        got = f"raises {own.raised.type}" if own.raised else "returns"
        told = f"{got}, should raise {request.refusal}"
        return Failure(f"{right.raised.line} {got}", lambda: told, request, right, None)

    def wrong(self, request: Request, case: Case, vectors: OneCall) -> Failure | None:
        """Raises: CheckFailed, GraderError."""
        right = self.right.ask(request)
        if right.died or right.raised:
            return None
        expected = vectors.expected(self.answer, case, self.dtype, 0)
        wanted = expected.gradients if self.start.gradients else expected.leaves
        finite = all(bool(one.isfinite().all()) for one in wanted.values() if isinstance(one, Tensor))
        self.finite = self.finite if self.way else finite
        has_floats = any(isinstance(one, float) for one in wanted.values())  # which a try compares as it does float32
        own, usual = (
            self.answer.tolerance_for(case, self.dtype),
            TOLERANCES[torch.float32 if has_floats else self.dtype],
        )
        allowed = [*map(max, astuple(own), astuple(usual))]
        if (self.finite and not finite) or difference(right, expected, self.start.gradients, Tolerance(*allowed)):
            return None
        reply = self.own.ask(request)
        if reply.died or reply.banned_calls:
            return None
        apart = Tolerance(*(MARGIN * one for one in allowed))
        found = difference(reply, expected, self.start.gradients, apart)
        return Failure(found.way, found.told, request, right, expected) if found else None

"""Whether two submissions did the same: what the diagnosis goes by."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace

import torch
from torch import Tensor

from graders.catalogue.source import Source
from graders.faults import CheckFailed
from graders.judge.budgets import ROUGH
from graders.judge.standard import refusals_in, without
from graders.kata.compare import mismatch_mask, surely_close
from graders.kata.spec import Grader
from graders.kata.tolerances import TOLERANCES, Tolerance
from graders.sandbox.messages import Cost, Raised, Reply, Request
from graders.sandbox.returned import Leaf, leaves_of
from graders.sandbox.submission import MOST_LINES, Submission

WHOLE = "the whole reply"
EXACT = TOLERANCES[torch.float64]


class Agreement:
    """Whether two submissions of a kata gave the same reply to a request.

    Args:
        lenient: whether refusals are looked through where the other one gives a result.
    """

    def __init__(self, grader: Grader) -> None:
        self.grader = grader
        self.lenient = False
        self.without_refusals = functools.cache(without_refusals)
        # A diagnosis asks for the same again, once for each part of a reply.
        self.known: dict[tuple[Submission, Submission, bytes, bool], list[str]] = {}

    def same_reply(self, one: Submission, other: Submission, request: Request) -> bool:
        try:
            its, reply, tolerance = self.replies(one, other, request)
            return agree(its, reply, tolerance) and (request.measured != "time" or same_time(its, reply))
        except CheckFailed:  # one of them has taken too long already
            return False

    def differences(self, one: Submission, other: Submission, request: Request) -> list[str]:
        key = one, other, request.message, self.lenient
        if key not in self.known:
            try:
                self.known[key] = differences(*self.replies(one, other, request))
            except CheckFailed:
                self.known[key] = [WHOLE]
        return self.known[key]

    def replies(self, one: Submission, other: Submission, request: Request) -> tuple[Reply, Reply, Tolerance]:
        """Raises: CheckFailed."""
        its, reply = (summed(request, each.ask(request)) for each in (one, other))
        if self.lenient and refused(its) and not refused(reply):
            its = summed(request, self.without_refusals(one).ask(request))
        return its, reply, self.tolerance(request, reply)

    def tolerance(self, request: Request, reply: Reply) -> Tolerance:
        """That of the least precise tensor that was sent or returned; a rough one where the cost is what matters.

        A tolerance of the case's own holds for the dtype that its inputs were sent in.
        """
        if request.measured:
            return ROUGH
        own = TOLERANCES | dict(self.grader.answer(request.answers[0]).tolerance)
        inputs = [*(request.arguments or {}).values(), *request.parameters.values()]
        sent, returned = (
            {value.dtype for value in values if isinstance(value, torch.Tensor)} & TOLERANCES.keys()
            for values in (inputs, leaves_of(reply.result).values())
        )
        own |= {dtype: request.tolerance or own[dtype] for dtype in sent or returned}
        used = [own[dtype] for dtype in sent | returned] or [request.tolerance or EXACT]
        return max(used, key=lambda one: one.relative + one.scaled)


def refused(reply: Reply) -> bool:
    return bool(reply.raised and reply.raised.refusal)


def without_refusals(one: Submission) -> Submission:
    """A copy of the answer whose refusals are gone: it lets everything through."""
    text = without(one.source.text, refusals_in(one.source.text))
    return Submission(Source(text, one.source.shown), one.names, one.launcher, one.banned, one.home)


def agree(one: Reply, other: Reply, tolerance: Tolerance) -> bool:
    """Whether two submissions did the same: for the diagnosis, which names a mistake only if it always does."""
    pairs = pairs_of(one, other)
    return pairs is not None and all(same_value(*pair, tolerance) for pair in pairs.values())


def differences(one: Reply, other: Reply, tolerance: Tolerance) -> list[str]:
    """The parts of the two that differ, each by a name; WHOLE alone where not even their parts are the same."""
    pairs = pairs_of(one, other)
    return [WHOLE] if pairs is None else [name for name, pair in pairs.items() if not same_value(*pair, tolerance)]


def pairs_of(one: Reply, other: Reply) -> dict[str, tuple[Leaf, Leaf]] | None:
    """What both returned, all gradients and changed inputs; None where the two are of different kinds."""
    if (one.raised is None, one.died) != (other.raised is None, other.died):
        return None
    if (one.printed_lines > MOST_LINES) != (other.printed_lines > MOST_LINES):
        return None
    if one.raised and other.raised and not same_exception(one.raised, other.raised):
        return None
    own, its = leaves_of(one.result), leaves_of(other.result)
    if own.keys() != its.keys() or one.gradients.keys() != other.gradients.keys():
        return None
    if one.changed.keys() != other.changed.keys() or (one.marked, one.left) != (other.marked, other.left):
        return None
    if {name.rpartition(".")[2] for name, _ in one.banned_calls} != {
        name.rpartition(".")[2] for name, _ in other.banned_calls
    }:
        return None
    if one.cost and other.cost and not same_cost(one.cost, other.cost):
        return None
    pairs: dict[str, tuple[Leaf, Leaf]] = {f"result {where}": (own[where], its[where]) for where in own}
    pairs |= {f"gradient of {name}": (one.gradients[name], other.gradients[name]) for name in one.gradients}
    return pairs | {f"input {name}": (one.changed[name], other.changed[name]) for name in one.changed}


def summed(request: Request, reply: Reply) -> Reply:
    """The reply with the judge's summary in place of the result, where the result is what can be summed up.

    Of gradients that need only be finite, it keeps whether they are: in right answers their rounding errors differ.
    """
    if request.rough:
        found = {name: None if one is None else one.isfinite().all() for name, one in reply.gradients.items()}
        reply = replace(reply, gradients=found)
    if request.summary is None or reply.raised or reply.died:
        return reply
    with contextlib.suppress(Exception):
        try:
            return replace(reply, result=request.told(reply.result))
        except CheckFailed as other_form:
            return replace(reply, result=str(other_form))
    return reply


def same_exception(one: Raised, other: Raised) -> bool:
    """`assert` and `raise ValueError` are two ways to refuse arguments. Of a deadlock it matters who waits for whom."""
    if one.type in ("ParameterMismatch", "Deadlock"):
        return (one.type, one.message) == (other.type, other.message)
    return one.type == other.type or (one.refusal and other.refusal)


def same_cost(one: Cost, other: Cost) -> bool:
    """Within a factor of three, or so little that it does not matter."""
    for figure, little in (("operators", 100), ("written", 1 << 20), ("peak", 1 << 20), ("lines", 10)):
        low, high = sorted((getattr(one, figure), getattr(other, figure)))
        if high > 3 * low + little:
            return False
    return True


def same_time(one: Reply, other: Reply) -> bool:
    """Within a factor of five, or a tenth of a second: a slow answer takes far more, and readings differ."""
    low, high = sorted((one.seconds, other.seconds))
    return high <= 5 * low + 0.1


def same_value(one: Leaf, other: Leaf, tolerance: Tolerance) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        one, other = (torch.tensor(number, dtype=torch.float64) for number in (one, other))
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return type(one) is type(other) and one == other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    one, other = one.double(), other.double()
    return surely_close(one, other, tolerance) or not bool(mismatch_mask(one, other, tolerance).any())

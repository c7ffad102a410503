"""Whether two submissions did the same: what the diagnosis goes by."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import torch
from torch import Tensor

from graders.kata.compare import mismatch_mask, surely_close
from graders.kata.tolerances import Tolerance
from graders.sandbox.messages import Cost, Raised, Reply, Request
from graders.sandbox.returned import Leaf, leaves_of
from graders.sandbox.submission import MOST_LINES

WHOLE = "the whole reply"


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
    """The reply with the judge's summary in place of the result, where the result is what can be summed up."""
    if request.summary is None or reply.raised or reply.died:
        return reply
    with contextlib.suppress(Exception):
        return replace(reply, result=request.summary(reply.result))
    return reply


def same_exception(one: Raised, other: Raised) -> bool:
    """`assert` and `raise ValueError` are two ways to refuse arguments."""
    return one.type == other.type or (one.refusal and other.refusal)


def same_cost(one: Cost, other: Cost) -> bool:
    """Within a factor of three, or so little that it does not matter."""
    for figure, little in (("operators", 100), ("written", 1 << 20), ("peak", 1 << 20), ("lines", 10)):
        low, high = sorted((getattr(one, figure), getattr(other, figure)))
        if high > 3 * low + little:
            return False
    return True


def same_value(one: Leaf, other: Leaf, tolerance: Tolerance) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        one, other = (torch.tensor(number, dtype=torch.float64) for number in (one, other))
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return type(one) is type(other) and one == other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    one, other = one.double(), other.double()
    return surely_close(one, other, tolerance) or not bool(mismatch_mask(one, other, tolerance).any())

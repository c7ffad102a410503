"""What is wrong with the precision of an answer, told by the size and the kind of its errors alone.

There are more ways to lose digits than known mistakes. Rounding errors differ from all others: of inputs that hardly
change, they change. How they depend on the dtype says where they come from.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.judge.expected import Expected
from graders.judge.standard import Known
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.kata.compare import mismatch_mask, same_shape
from graders.kata.draw import Draw
from graders.kata.spec import Answer, Arguments, Case
from graders.kata.tolerances import HALF, TOLERANCES
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import leaves_of, other_form

NUDGES = 1e-5, 1e-2  # parts of itself that an input changes by: much for a rounding error, little for any other
ROUNDED = 0.2  # of themselves that rounding errors change by at least
# Errors that hardly change in some call, as those of a clamp, or grow by more, as those of an eps where two inputs are
# equal, are no rounding errors. (A clamp at 1 - 1e-6 gave 1e-10, an eps of 1e-10 under a root 9000 and more.)
STILL, GROWN = 1e-3, 100
LOOKED_AT = 5  # calls, the worst
IN_FLOAT32 = (1e-10, 1e-5)  # between these are errors of float64 that float32 makes
ALIKE, FAR = 100, 1e4  # times as large an error in float32 as in float64, whose epsilons are 5e8 apart
SMALLEST = 1e-17  # the error of a call without one
Place = tuple[Answer, Case, torch.dtype, int]  # of a call

PART_IN_FLOAT32 = Known(
    "part_in_float32",
    "",
    "results in float64 are no more exact than in float32, so a part is computed in float32; keep float64 in every "
    "step: new tensors and quotients of integers are float32 by default",
)
DIGITS_CANCEL = Known(
    "digits_cancel",
    "",
    "digits are lost: perhaps two nearly equal numbers are subtracted, or a small number is added to a large one; "
    "rearrange the formula",
)
HALF_TOO_NARROW = Known(
    "half_too_narrow",
    "",
    "only half precision is wrong: an intermediate number overflows, or has too few digits; compute in float32, and "
    "cast the result back",
)


@dataclass(frozen=True)
class Call:
    """A call in the simplest way, and how far off what came back is."""

    answer: Answer
    case: Case
    dtype: torch.dtype
    index: int
    errors: Tensor  # of all numbers, in parts of the largest one
    wrong: bool

    @property
    def error(self) -> float:
        return float(self.errors.abs().max())


def behaviour(trial: Trial, suspects: Mapping[int, tuple[bool, int]], anew: TestVectors) -> Known | None:
    """Says where the errors come from, if it is the precision alone, and is so at inputs drawn anew as well.

    Where that is not so of all calls, those of the core are looked at alone, of the answer that is the first to fail.
    """
    replies = trial.submission.replies
    found = of_precision(trial, {*replies}, anew)
    failed = [one for one, _ in replies.values() if not suspects.get(id(one), (True,))[0]]
    if found or not failed:
        return found
    first = min(failed, key=lambda one: suspects[id(one)])
    answered = {message for message, (one, _) in replies.items() if one.answers == first.answers}
    found = of_precision(trial, answered & trial.vectors.of_the_core(), anew)
    return None if found is HALF_TOO_NARROW else found


def of_precision(trial: Trial, messages: set[bytes], anew: TestVectors) -> Known | None:
    """The kind of too little precision that these calls alone tell of, with these inputs and with others."""
    places = [*places_of(trial, messages)]
    try:
        found = kind_at(trial, places)
        return found if found and kind_at(Trial(anew, trial.submission, None, {}), places) is found else None
    except CheckFailed:
        return None


def places_of(trial: Trial, messages: set[bytes]) -> Iterator[Place]:
    """Where those of these calls stand that are in the simplest way."""
    for answer in trial.vectors.grader.answers:
        for case in answer.cases:
            for dtype in TOLERANCES if case.inputs and not case.raises else ():
                for index, request in enumerate(requests(trial, answer, case, dtype)):
                    if request.message in messages:
                        yield answer, case, dtype, index


def kind_at(trial: Trial, places: list[Place]) -> Known | None:
    """Raises: CheckFailed where a call gave no numbers to compare."""
    there = [place for place in places if place[3] < len(requests(trial, *place[:3]))]
    wrong = [call for call in (measured(trial, *place) for place in there) if call.wrong]
    precise = [call for call in wrong if call.dtype not in HALF]
    return origin(trial, precise) if precise else HALF_TOO_NARROW if wrong else None


def requests(trial: Trial, answer: Answer, case: Case, dtype: torch.dtype) -> list[Request]:
    return trial.vectors.requests(answer, case, dtype, answer.differentiates_in(case))


def measured(trial: Trial, answer: Answer, case: Case, dtype: torch.dtype, index: int) -> Call:
    """Raises: CheckFailed where the call gives no numbers to compare."""
    reply = trial.ask(requests(trial, answer, case, dtype)[index])
    nothing = torch.zeros(1, dtype=torch.float64)  # right where there are no numbers
    pairs = [(nothing, nothing), *numbers(reply, trial.vectors.expected(answer, case, dtype, index), case)]
    tolerance = answer.tolerance_for(case, dtype)
    wrong = any(bool(mismatch_mask(got, right, tolerance).any()) for got, right in pairs)
    got, right = map(torch.cat, zip(*pairs, strict=True))
    errors = torch.where((got == right) | (got.isnan() & right.isnan()), 0, got - right)
    return Call(answer, case, dtype, index, errors / (right.nan_to_num(0, 0, 0).abs().max() or 1), wrong)


def numbers(reply: Reply, expected: Expected, case: Case) -> Iterator[tuple[Tensor, Tensor]]:
    """All that came back beside what should have, in float64. Raises: CheckFailed where that is of another form."""
    if reply.raised or other_form(reply.result, expected.result):
        raise CheckFailed("no numbers")
    got = leaves_of(reply.result, like=expected.result) | {
        f"gradient of {name}": one for name, one in reply.gradients.items()
    }
    gradients = expected.gradients if case.gradients == "exact" else {}
    wanted = leaves_of(expected.result) | {f"gradient of {name}": one for name, one in gradients.items()}
    for where, right in wanted.items():
        found = got.get(where)
        if isinstance(right, float) and isinstance(found, float | int):
            found, right = (torch.tensor(one, dtype=torch.float64) for one in (found, right))
        if isinstance(right, Tensor) and isinstance(found, Tensor):
            same_shape(where, found, right)
            free = right.isnan() if where not in expected.leaves else torch.zeros_like(right, dtype=torch.bool)
            yield found.double().masked_fill(free, 0).flatten(), right.double().masked_fill(free, 0).flatten()
        elif not isinstance(right, Tensor) and found != right:
            raise CheckFailed("another text or whole number")


def origin(trial: Trial, wrong: list[Call]) -> Known | None:
    """Of errors in float32 and float64: rounding, in the one dtype or in both. Raises: CheckFailed."""
    doubles = [call for call in wrong if call.dtype == torch.float64]
    worst = sorted(doubles or wrong, key=lambda call: call.error, reverse=True)[:LOOKED_AT]
    if not all(bool(call.errors.isfinite().all()) for call in wrong) or not rounded(trial, worst):
        return None
    single, double = (
        [measured(trial, call.answer, call.case, dtype, call.index).error + SMALLEST for call in worst]
        for dtype in (torch.float32, torch.float64)
    )
    ratio = statistics.median(one / other for one, other in zip(single, double, strict=True))
    least, most = IN_FLOAT32
    if len(doubles) == len(wrong) and ratio < ALIKE and least < statistics.median(double) < most:
        return PART_IN_FLOAT32
    return DIGITS_CANCEL if ratio > FAR else None


def rounded(trial: Trial, calls: list[Call]) -> bool:
    """Whether the errors are others, of about the same size, where the inputs hardly change. Raises: CheckFailed."""
    changes = []
    for call in calls:
        size = min(max(NUDGES[0], 5 * call.error), NUDGES[1])  # a rounding error stays while inputs move by less
        other = measured(trial, call.answer, nudged(trial, call.case, size), call.dtype, call.index)
        if other.errors.shape != call.errors.shape:
            return False  # without its ties the result has another length
        changes.append(float((other.errors - call.errors).norm() / call.errors.norm()))
    if any(0 < change < STILL for change in changes) or statistics.median(changes) > GROWN:
        return False
    return math.hypot(*changes) > ROUNDED * math.sqrt(len(calls))


def nudged(trial: Trial, case: Case, size: float) -> Case:
    """The case with inputs that are hardly different, also beside how much they differ from each other."""

    def inputs(draw: Draw, **sizes: int) -> list[Arguments]:
        return [{name: moved(value, draw) for name, value in given.items()} for given in trial.vectors.arguments(case)]

    def moved(value: Any, draw: Draw) -> Any:
        if not isinstance(value, Tensor) or not value.is_floating_point() or torch.equal(value, value.round()):
            return value  # labels stay what they are
        spread = value.abs()
        for axis, length in enumerate(value.shape):
            if length > 1:
                spread = spread.minimum(value.std(axis, correction=0, keepdim=True))
        return value - size * value.sign() * spread.nan_to_num(0, 0, 0) * draw.uniform(*value.shape, low=0, high=1)

    return replace(case, inputs=inputs)

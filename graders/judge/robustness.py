"""Questions about an answer's robustness: half precision, strided inputs, inputs left alone, the same answer again.

Each raises CheckFailed where the answer is wrong, anything else where the grader is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.judge import correctness
from graders.judge.modes import Mode
from graders.judge.trial import Trial
from graders.judge.unusual import Question, failing, failure_of, in_modes, tell
from graders.kata.compare import bits
from graders.kata.spec import Answer, Case
from graders.kata.tolerances import TOLERANCES
from graders.sandbox.messages import Request

SUSPECTS = 5  # calls with strided inputs that are made again with others, if only such calls fail


def half_precision(answer: Answer, cases: list[Case], dtype: torch.dtype, trial: Trial) -> None:
    for case in cases:
        correctness.shapes(answer, case, (dtype,), trial)
        correctness.values(answer, case, dtype, trial)
        if answer.differentiates_in(case):
            correctness.gradients(answer, case, dtype, trial)


def non_contiguous(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """Reports strided calls that fail, but none whose unstrided call fails too while the plain call is right."""
    for case in cases:
        question = right_in_mode(answer, case, trial)
        fails = functools.partial(failure_of, answer, case, trial, question)
        for index, mode in failing_in_mode(answer, case, trial):
            if mode.strided and (fails(index, Mode(mode.dtype)) or not fails(index, replace(mode, strided=False))):
                tell(answer, case, trial, question, index, mode)
    for case, index, name in trial.vectors.expandable(answer):
        mode = Mode(case.dtypes[0], repeated=name)
        same_as(answer, case, trial, index, mode, replace(mode, strided=True))


def same_answer_twice(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """What a call returns should depend on its inputs alone: not on an earlier call, nor on the mode it is made in.

    So inputs of the same shapes, but of other values, are asked as well.
    """
    for case in cases:
        question = right_in_mode(answer, case, trial)
        calls = failing_in_mode(answer, case, trial)
        for index, mode in [call for call in calls if not call[1].strided] or calls[:SUSPECTS]:
            tell(answer, case, trial, question, index, replace(mode, strided=False))
    try:
        correctness.values(answer, answer.cases[0], answer.again.dtypes[0], trial)
    except CheckFailed:
        return  # that was told
    correctness.values(answer, answer.again, answer.again.dtypes[0], trial)
    one_tensor_for_several(answer, trial)


def one_tensor_for_several(answer: Answer, trial: Trial) -> None:
    """It gives what equal tensors give, unless they are refused, and each of them gets the gradients of all."""
    for case, index, names in trial.vectors.shareable(answer):
        mode = Mode(case.dtypes[0], equal=names)
        same_as(answer, case, trial, index, mode, replace(mode, shared=True))


def same_as(answer: Answer, case: Case, trial: Trial, index: int, simple: Mode, unusual: Mode) -> None:
    """A call in an unusual mode should give what it gives in a simpler one, unless that refuses its values."""
    dtype, learning = simple.dtype, answer.differentiable if answer.differentiates_in(case) else ()
    gradients: Literal["pulled", "recorded"] = "pulled" if answer.differentiates_in(case) else "recorded"
    apart, other = (
        trial.vectors.request(answer, case, replace(mode, gradients=gradients, leaves=learning), index)
        for mode in (simple, unusual)
    )
    tolerance = answer.tolerance_for(case, dtype)
    if trial.ask(apart).raised:
        return
    wanted = trial.result(apart, trial.vectors.expected(answer, case, dtype, index).result)
    found = dict(trial.ask(apart).gradients)
    if unusual.shared:  # what it gives for each of them is added up
        parts = [gradient for name in unusual.equal if (gradient := found.get(name)) is not None]
        found |= dict.fromkeys(unusual.equal, sum(parts[1:], parts[0]) if parts else None)
    correctness.same_values(trial, other, wanted, tolerance)
    finite = {name: one for name, one in found.items() if one is not None and one.isfinite().all()}
    correctness.same_gradients(case, trial, other, finite, tolerance)
    if any(trial.ask(apart).learning) and not any(trial.ask(other).learning):
        raise CheckFailed(f"{other.in_words('the result')}: should require grad, even if its gradient is 0")


def failing_in_mode(answer: Answer, case: Case, trial: Trial) -> list[tuple[int, Mode]]:
    """The calls in unusual modes that do not give what they should."""
    key = answer.name, case.name
    if key not in trial.failing:
        trial.failing[key] = failing(answer, case, trial, right_in_mode(answer, case, trial))
    return trial.failing[key]


def right_in_mode(answer: Answer, case: Case, trial: Trial) -> Question:
    """Whether a call gives what it does in the simplest way, or where its inputs are strided, what is right."""

    def question(request: Request, index: int, mode: Mode) -> None:
        if mode.dtype in answer.halves and not right_in_dtype(answer, case, mode.dtype, trial):
            return  # that was told
        try:
            compare(request, index, mode)
        except CheckFailed:
            if not mode.strided or case.in_core or right_in_dtype(answer, case, mode.dtype, trial):
                raise  # an edge that is wrong in whatever strides was told

    def compare(request: Request, index: int, mode: Mode) -> None:
        vectors, dtype = trial.vectors, mode.dtype
        expected, tolerance = vectors.expected(answer, case, dtype, index), answer.tolerance_for(case, dtype)
        simple = correctness.simple_result(answer, case, dtype, index, trial)
        gradients: Mapping[str, Tensor | None] = expected.gradients
        if mode.strided:
            correctness.same_values(trial, request, expected.result, tolerance)
        else:
            exact = case.tolerance.get(dtype, TOLERANCES[dtype]) if dtype == torch.float64 else tolerance
            correctness.same_values(trial, request, simple, exact)
        correctness.same_dtypes(trial, request, simple)
        if mode.gradients == "pulled":
            if not mode.strided:
                pulled = vectors.requests(answer, case, dtype, gradients=True)[index]
                trial.result(pulled, expected.result)
                gradients = trial.ask(pulled).gradients
            correctness.same_gradients(case, trial, request, gradients, tolerance)

    return question


def right_in_dtype(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial) -> bool:
    try:
        half_precision(answer, [case], dtype, trial)
    except CheckFailed:
        return False
    return True


def inputs_left_alone(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """And torch's state, in every call that is made of the answer, its backward included where there is one."""
    for case in cases:
        for gradients in () if case.raises else (False, True) if answer.differentiates_in(case) else (False,):
            for dtype in case.dtypes:
                for request, expected in correctness.each(trial, answer, case, dtype, gradients):
                    trial.result(request, expected.result)
                    same_inputs(trial, request)
        if case.raises and correctness.endless_in(answer, case, trial):
            continue  # of which the refusal's own check tells
        in_modes(answer, case, trial, lambda request, index, mode: same_inputs(trial, request))


def same_inputs(trial: Trial, request: Request) -> None:
    reply = trial.ask(request)
    for name, before in (request.arguments or {}).items():
        if name in reply.changed and not same_bits(before, reply.changed[name]):
            raise CheckFailed(f"{request.in_words(name)}: should be left as it was, but is modified in place")
        if name in reply.marked:
            what = reply.marked[name]
            raise CheckFailed(f"{request.in_words(name)}: should be left as it was, but {what}")
    for what in reply.left:
        raise CheckFailed(f"{request.in_words(what)}: should be the same after the call as before it, but is changed")


def same_bits(before: Tensor, after: Tensor) -> bool:
    same_kind = before.shape == after.shape and before.dtype == after.dtype
    return same_kind and torch.equal(bits(before), bits(after))

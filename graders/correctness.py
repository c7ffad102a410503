"""Questions about an answer's contract, values, gradients, robustness and rules; budgets.py asks what it costs.

Each raises CheckFailed where the answer is wrong, anything else where the grader is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from graders import compare
from graders.exam import Expected
from graders.messages import Request
from graders.spec import TOLERANCES, Answer, Case, parameters_of
from graders.submission import CheckFailed
from graders.trial import Trial


def signature(answer: Answer, trial: Trial) -> None:
    """The name is there, is what it should be, and takes what the statement lists; more is welcome if optional."""
    found = trial.submission.load()
    for name, text in ((answer.name, answer.signature), (f"{answer.name}.forward", answer.forward)):
        if not text:
            continue
        there = found.get(name)
        if there is None:
            raise CheckFailed(trial.submission.lacks(name))
        wanted = "function" if not answer.forward or "." in name else "module"
        if there["kind"] != wanted:
            kind = "a function" if wanted == "function" else "a subclass of torch.nn.Module"
            raise CheckFailed(f"{name}: should be {kind}, got something else")
        same_parameters(name, parameters_of(text), there["parameters"])
    if answer.forward:
        for request in trial.exam.requests(answer, answer.cases[0], torch.float64):
            reply = trial.ask(replace(request, arguments=None))
            if reply.raised:
                raise CheckFailed(f"the constructor: should return, got {trial.submission.explain(reply.raised)}")


def same_parameters(name: str, wanted: Mapping[str, Any], got: list[dict[str, Any]] | None) -> None:
    if got is None or any(parameter["kind"] == "VAR_POSITIONAL" for parameter in got):
        return  # it cannot be told, or takes anything
    shown = ", ".join(parameter["name"] for parameter in got)
    for index, (parameter, default) in enumerate(wanted.items()):
        if index >= len(got) or got[index]["name"] != parameter or got[index]["kind"] != "POSITIONAL_OR_KEYWORD":
            raise CheckFailed(f"parameters of {name}: should be ({', '.join(wanted)}), got ({shown})")
        there = got[index]
        if default is not ... and (not there["optional"] or there["default"] != default):
            default_got = there["default"] if there["optional"] else "none"
            raise CheckFailed(f"default of {parameter} in {name}: should be {default!r}, got {default_got!r}")
    for more in got[len(wanted) :]:
        if not more["optional"] and more["kind"] != "VAR_KEYWORD":
            raise CheckFailed(f"parameters of {name}: should be ({', '.join(wanted)}), got ({shown})")


def raises(answer: Answer, case: Case, trial: Trial) -> None:
    requests = trial.exam.requests(answer, case, case.dtypes[0])
    ask_all(trial, requests)
    for request in requests:
        reply = trial.ask(request)
        if reply.raised is None:
            raise CheckFailed("the call: should raise ValueError, got a result")
        if not {"ValueError", "AssertionError"} & set(reply.raised.bases):
            raise CheckFailed(f"the call: should raise ValueError, got {trial.submission.explain(reply.raised)}")


def each(
    trial: Trial, answer: Answer, case: Case, dtype: torch.dtype, **how: Any
) -> Iterator[tuple[Request, Expected]]:
    """(request, expected) for each call of the case. All are asked first: the diagnosis compares what all gave."""
    requests = trial.exam.requests(answer, case, dtype, **how)
    ask_all(trial, requests)
    for index, request in enumerate(requests):
        yield request, trial.exam.expected(answer, case, dtype, index)


def ask_all(trial: Trial, requests: list[Request]) -> None:
    for request in requests:
        with contextlib.suppress(CheckFailed):  # raised again where the reply is looked at
            trial.submission.ask(request)


def outputs(trial: Trial, request: Request, expected: Expected) -> tuple[Tensor, ...]:
    return trial.outputs(request, len(expected.outputs) if expected.is_tuple else None)


def subject(expected: Expected, index: int) -> str:
    return f"output {index + 1}" if expected.is_tuple else "the output"


def shapes(answer: Answer, case: Case, dtypes: tuple[torch.dtype, ...], trial: Trial) -> None:
    for dtype in dtypes:
        for request, expected in each(trial, answer, case, dtype):
            for index, (got, wanted) in enumerate(
                zip(outputs(trial, request, expected), expected.outputs, strict=True)
            ):
                compare.same_shape(subject(expected, index), got, wanted)
                compare.same_dtype(subject(expected, index), got, answer.returns or (dtype,))


def values(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial, **how: Any) -> None:
    tolerance = answer.tolerance_for(case, dtype)
    for request, expected in each(trial, answer, case, dtype, **how):
        for index, (got, wanted) in enumerate(zip(outputs(trial, request, expected), expected.outputs, strict=True)):
            what = "values" if not expected.is_tuple else f"values of output {index + 1}"
            compare.close(what, got, wanted, tolerance)


def gradients(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial, **how: Any) -> None:
    """By value, pulled back from random cotangents, for every differentiable input and parameter."""
    tolerance = answer.tolerance_for(case, dtype)
    for request, expected in each(trial, answer, case, dtype, gradients=True, **how):
        outputs(trial, request, expected)
        reply = trial.ask(request)
        for name, wanted in expected.gradients.items():
            got = reply.gradients.get(name)
            what = f"gradient of {name}"
            if got is None:
                if case.gradients == "exact" and wanted.abs().max() > tolerance.absolute:
                    raise CheckFailed(f"{what}: should flow, got none")
                continue
            compare.same_shape(what, got, wanted)
            compare.finite(what, got)
            if case.gradients == "exact":
                free = wanted.isnan()
                compare.close(what, got.masked_fill(free, 0), wanted.masked_fill(free, 0), tolerance)


def half_precision(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial) -> None:
    values(answer, case, dtype, trial)
    if answer.differentiates:
        gradients(answer, case, dtype, trial)


def non_contiguous(answer: Answer, cases: list[Case], trial: Trial) -> None:
    for case in cases:
        differentiates = answer.differentiates and case.gradients == "exact"
        values(answer, case, case.dtypes[0], trial, strided=True, gradients=differentiates)
        if differentiates:
            gradients(answer, case, case.dtypes[0], trial, strided=True)


# Under no_grad, a module in eval mode, after a call with other values: as a model is used once it is trained.
IN_USE = {"inference": True, "rehearsed": True}


def inputs_left_alone(answer: Answer, cases: list[Case], trial: Trial) -> None:
    for case in cases:
        for how in ({}, IN_USE):
            for request, expected in each(trial, answer, case, case.dtypes[0], **how):
                outputs(trial, request, expected)
                for name, after in trial.ask(request).inputs.items():
                    before = (request.arguments or {})[name]
                    if before.shape != after.shape or not torch.equal(before.nan_to_num(), after.nan_to_num()):
                        raise CheckFailed(f"{name}: should be left as it was, got it modified in place")


def same_answer_twice(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """What a call returns should depend on its inputs alone: not on an earlier call, nor on the mode it is made in."""
    for case in cases:
        firsts = [outputs(trial, *asked) for asked in each(trial, answer, case, case.dtypes[0])]
        for what, how in (("values of a second call", {"rehearsed": True}), ("values without gradients", IN_USE)):
            for first, asked in zip(firsts, each(trial, answer, case, case.dtypes[0], **how), strict=True):
                for one, two in zip(first, outputs(trial, *asked), strict=True):
                    compare.close(what, two, one, TOLERANCES[torch.float64])


def allowed_calls(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """Every call is watched for banned operators; these, one of each set of inputs, for functions as well."""
    requests = [
        request
        for case in cases
        for request in trial.exam.requests(answer, case, case.dtypes[0], gradients=answer.differentiates_in(case))
    ]
    ask_all(trial, requests)
    trial.refuse_calls([pair for pair in trial.submission.replies.values() if pair[0].target == answer.name])
    for request in requests:
        reply = trial.ask(request)
        if reply.raised:
            raise CheckFailed(f"the call: should return, got {trial.submission.explain(reply.raised)}")


def own_test(function: Callable[..., None], name: str, trial: Trial) -> None:
    """A kata's own test function: `submission` and, where it asks for it, `draw`.

    What the function raises counts against the submission, whose results may be of any shape: the proofs show
    that right answers do not get there.
    """
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {"submission": trial, "draw": trial.exam.draw(name)}
    try:
        function(**{argument: given[argument] for argument in wanted})
    except (AssertionError, CheckFailed) as failure:
        raise CheckFailed(str(failure) or "does not hold", getattr(failure, "kind", "fail")) from None
    except Exception as error:
        raise CheckFailed(f"the result: should be usable, got {type(error).__name__}: {error}") from error

"""Questions about an answer's contract, values, gradients and rules; see robustness.py and budgets.py for the others.

Each raises CheckFailed where the answer is wrong, anything else where the grader is.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from graders.faults import CheckFailed, GraderError, NotAsked
from graders.judge.expected import Expected, same_tensors
from graders.judge.modes import Mode
from graders.judge.trial import Trial
from graders.judge.unusual import failing, tell
from graders.kata.compare import as_finite, close, finite, first_difference, same_dtype, same_shape
from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer, Case
from graders.kata.tolerances import Tolerance
from graders.sandbox.messages import Request
from graders.sandbox.returned import THE_OUTPUT, Leaf, Returned, leaves_of

LIKEWISE, OR = "; likewise for ", " · "  # before and between further calls of a case that are not refused
MOST_OUTPUTS = 8  # that a message says of whether they are right
MOST_CALLS = 2  # of these
ONLY = {"POSITIONAL_ONLY": " by position alone", "KEYWORD_ONLY": " by name alone"}


def signature(answer: Answer, trial: Trial) -> None:
    """The name is there, is what it should be, and takes what the statement lists; more is welcome if optional."""
    found = trial.submission.load()
    for name, text in answer.signatures.items():
        there = found.get(name)
        if there is None:
            raise CheckFailed(trial.submission.lacks(name))
        kind, kinds = "a function", ["function"]
        if "." not in name and answer.forward:
            kind, kinds = "a subclass of torch.nn.Module", ["module"]
        elif "." not in name and answer.is_class:
            kind, kinds = "a class", ["class", "module"]
        if there["kind"] not in kinds:
            raise CheckFailed(f"{name}: should be {kind}, got something else")
        if "(" in text:
            same_parameters(name, parameters_of(text), there["parameters"])
    if answer.forward:
        for request in trial.vectors.requests(answer, answer.cases[0], torch.float64):
            reply = trial.ask(replace(request, arguments=None))
            if reply.raised:
                raise CheckFailed(f"the constructor: {trial.submission.no_return(reply.raised)}")


def same_parameters(name: str, wanted: Mapping[str, Any], got: list[dict[str, Any]] | None) -> None:
    if got is None or any(parameter["kind"] == "VAR_POSITIONAL" for parameter in got):
        return  # it cannot be told, or takes anything
    names = ", ".join(parameter["name"] + ONLY.get(parameter["kind"], "") for parameter in got)
    for index, (parameter, default) in enumerate(wanted.items()):
        if index >= len(got) or got[index]["name"] != parameter or got[index]["kind"] != "POSITIONAL_OR_KEYWORD":
            raise CheckFailed(f"parameters of {name}: should be ({', '.join(wanted)}), got ({names})")
        there = got[index]
        told = default if isinstance(default, int | float | str | None) else repr(default)  # as the worker tells it
        if default is not ... and (not there["optional"] or there["default"] != told):
            shown = repr(there["default"]) if told == default else there["default"]
            got_one = shown if there["optional"] else "no default"
            raise CheckFailed(f"default of {parameter} in {name}: should be {default!r}, got {got_one}")
    for more in got[len(wanted) :]:
        if not more["optional"] and more["kind"] != "VAR_KEYWORD":
            raise CheckFailed(f"parameters of {name}: should be ({', '.join(wanted)}), got ({names})")


def raises(answer: Answer, case: Case, trial: Trial) -> None:
    """After a call that returns, so that nobody passes who looks at the arguments of the first one alone."""
    typical = answer.cases[0]
    differentiates = answer.differentiates_in(typical)
    ask_before(trial, trial.vectors.requests(answer, typical, typical.dtypes[-1], differentiates)[:1])

    def refused(request: Request) -> None:
        reply = trial.ask(request)
        the_call = request.in_words("the call")
        if reply.raised is None:
            raise CheckFailed(f"{the_call}: should raise {request.refusal}, got a result")
        if not reply.raised.refusal:
            other = "another class named " if reply.raised.type in ("ValueError", "AssertionError") else ""
            why = f"{other}{trial.submission.explain(reply.raised)}"
            raise CheckFailed(f"{the_call}: should raise {request.refusal}, got {why}")

    if case.inputs is None:
        for request in trial.vectors.requests(answer, case, case.dtypes[0]):
            refused(request)
        return

    def question(request: Request, index: int, mode: Mode) -> None:
        refused(request)

    endless = endless_in(answer, case, trial)
    if endless:
        refused(endless)
    wrong = failing(answer, case, trial, question)
    for index, mode in wrong[:1]:
        try:
            tell(answer, case, trial, question, index, mode)
        except CheckFailed as failure:
            others = dict.fromkeys(other for other, _ in wrong if other != index)
            given = [trial.vectors.request(answer, case, Mode(case.dtypes[0]), one).given for one in (index, *others)]
            raise CheckFailed(f"{failure}{likewise(*given)}", failure.kind) from None


def endless_in(answer: Answer, case: Case, trial: Trial) -> Request | None:
    """The first call of a case that raises which hangs, ends its process or fills its memory: others would as well."""
    for index, mode in trial.vectors.crossed(answer)[case.name]:
        request = trial.vectors.request(answer, case, mode, index)
        try:
            reply = trial.submission.ask(request)
        except CheckFailed:  # it is not asked any more
            return request
        if reply.died or reply.cut_short:
            return request
    return None


def ask_before(trial: Trial, requests: list[Request]) -> None:
    """Before others. Raises: CheckFailed where one gives nothing, since those would be waited for as well."""
    for trial.last in requests:
        if trial.submission.ask(trial.last).died:
            trial.ask(trial.last)


def likewise(first: Mapping[str, str], *others: Mapping[str, str]) -> str:
    """Of further calls what is not as in the first: `; likewise for normalized_shape=[6] and 9 more`."""
    told = [", ".join(text for name, text in one.items() if first.get(name) != text) for one in others]
    told = [*filter(None, dict.fromkeys(told))]
    hidden = f" and {len(told) - MOST_CALLS} more" if len(told) > MOST_CALLS else ""
    return f"{LIKEWISE}{OR.join(told[:MOST_CALLS])}{hidden}" if told else ""


def each(
    trial: Trial, answer: Answer, case: Case, dtype: torch.dtype, gradients: bool = False
) -> Iterator[tuple[Request, Expected]]:
    """(request, expected) for each call of the case. All are asked first: the diagnosis compares what all gave."""
    requests = trial.vectors.requests(answer, case, dtype, gradients or answer.differentiates_in(case))
    trial.ask_all(requests)
    for index, request in enumerate(requests):
        one = request if gradients else simplest(answer, case, dtype, index, trial)
        yield one, trial.vectors.expected(answer, case, dtype, index)


def simplest(answer: Answer, case: Case, dtype: torch.dtype, index: int, trial: Trial) -> Request:
    """A call whose gradients are pulled back where there are such, or, where it raises, one without.

    One request gives values and gradients. The unusual modes check that values are the same without gradients.
    """
    request = trial.vectors.requests(answer, case, dtype, gradients=answer.differentiates_in(case))[index]
    with contextlib.suppress(CheckFailed):
        if trial.ask(request).raised:
            return trial.vectors.requests(answer, case, dtype)[index]
    return request


def tensors(result: Returned) -> dict[str, Tensor]:
    return {where: leaf for where, leaf in leaves_of(result).items() if isinstance(leaf, Tensor)}


def of(what: str, where: str) -> str:
    """The subject of a message: of the only output without a word."""
    return what if where == THE_OUTPUT else f"{what} of {where}"


def shapes(answer: Answer, case: Case, dtypes: tuple[torch.dtype, ...], trial: Trial) -> None:
    """The narrowest dtype is called first: a table that is made once, and cast, then lacks digits in the others."""
    for dtype in reversed(dtypes):
        ask_before(trial, trial.vectors.requests(answer, case, dtype, answer.differentiates_in(case)))
    for dtype in dtypes:
        for request, expected in each(trial, answer, case, dtype):
            result = trial.result(request, expected.result)
            same_tensors(result, expected.result, functools.partial(answer.dtypes_of, dtype=dtype))


def simple_result(answer: Answer, case: Case, dtype: torch.dtype, index: int, trial: Trial) -> Returned:
    """What the call gives when it is made in the simplest way."""
    request = simplest(answer, case, dtype, index, trial)
    return trial.result(request, trial.vectors.expected(answer, case, dtype, index).result)


def same_dtypes(trial: Trial, request: Request, simple: Returned) -> None:
    """As in the simplest way, of which `shapes` asks whether they are right."""
    got = tensors(trial.result(request, simple))
    for where, wanted in tensors(simple).items():
        same_dtype(request.in_words(where), got[where], (wanted.dtype,))


def same_values(trial: Trial, request: Request, wanted: Returned, tolerance: Tolerance) -> None:
    got = leaves_of(trial.result(request, wanted), like=wanted)

    def compare(where: str, right: Leaf) -> None:
        same_leaf(request.in_words(of("values", where)), request.in_words(where), got[where], right, tolerance)

    ask_each({where: functools.partial(compare, where, right) for where, right in leaves_of(wanted).items()})


def ask_each(questions: Mapping[str, Callable[[], None]]) -> None:
    """Raises: CheckFailed, the first one's; where others are right, it says which are wrong."""
    failed: dict[str, CheckFailed] = {}
    for name, question in questions.items():
        try:
            question()
        except CheckFailed as failure:
            failed[name] = failure
    if failed:
        first = next(iter(failed.values()))
        told = ", ".join(f"{name} {'wrong' if name in failed else 'right'}" for name in questions)
        mixed = len(failed) < len(questions) <= MOST_OUTPUTS
        said, *table = str(first).split("\n", 1)
        raise CheckFailed("\n".join([f"{said}; {told}", *table]) if mixed else str(first), first.kind)


def same_leaf(values: str, subject: str, got: Leaf, wanted: Leaf, tolerance: Tolerance) -> None:
    """One tensor, number or text; `values` is what a message calls a tensor's."""
    if isinstance(wanted, Tensor) and isinstance(got, Tensor):
        close(values, got, wanted, tolerance)
    elif isinstance(wanted, float) and isinstance(got, float | int):
        one, other = (torch.tensor(number, dtype=torch.float64) for number in (got, wanted))
        close(subject, one, other, tolerance)
    elif got != wanted:
        raise CheckFailed(f"{subject}: {first_difference(got, wanted)}")


def same_gradients(
    case: Case, trial: Trial, request: Request, wanted: Mapping[str, Tensor | None], tolerance: Tolerance
) -> None:
    """Of every input that requires grad, and every parameter."""
    found, learning = trial.ask(request).gradients, (*request.leaves, *request.parameters)

    def compare(name: str, gradient: Tensor) -> None:
        got, what = found.get(name), request.in_words(f"gradient of {name}")
        if got is None:
            if case.gradients == "exact" and gradient.abs().max() > tolerance.absolute:
                raise CheckFailed(f"{what}: should flow, got none")
            return
        same_shape(what, got, gradient)
        finite(what, got)
        if case.gradients == "exact":
            free = gradient.isnan()
            close(what, got.masked_fill(free, 0), gradient.masked_fill(free, 0), tolerance)

    given = {name: gradient for name, gradient in wanted.items() if gradient is not None and name in learning}
    ask_each({name: functools.partial(compare, name, gradient) for name, gradient in given.items()})


def values(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial) -> None:
    for request, expected in each(trial, answer, case, dtype):
        same_values(trial, request, expected.result, answer.tolerance_for(case, dtype))


def gradients(answer: Answer, case: Case, dtype: torch.dtype, trial: Trial) -> None:
    """By value, pulled back from random cotangents, for every differentiable input and parameter."""
    for request, expected in each(trial, answer, case, dtype, gradients=True):
        for where, output in tensors(trial.result(request, expected.result)).items():
            right = tensors(expected.result)[where]
            same_shape(where, output, right)  # of another shape nothing was pulled back
            as_finite(of("values", where), output, right)
        same_gradients(case, trial, request, expected.gradients, answer.tolerance_for(case, dtype))
        reply = trial.ask(request)
        learns = dict(zip(tensors(reply.result), reply.learning, strict=True))
        lacking = [where for where in expected.learning if not learns[where] and not case.scenario]
        if request.cotangents and (lacking or not any(got is not None for got in reply.gradients.values())):
            subject = "the result" if lacking in ([], [THE_OUTPUT]) else lacking[0]
            raise CheckFailed(f"{request.in_words(subject)}: should require grad, even if its gradient is 0")


def allowed_calls(answer: Answer, cases: list[Case], trial: Trial) -> None:
    """Nothing that is banned was called, in any call of the answer, nor while it was imported.

    Where an ordinary call raises, nobody knows what it would have called.
    """
    requests = {
        case: trial.vectors.requests(answer, case, case.dtypes[0], gradients=answer.differentiates_in(case))
        for case in cases
    }
    trial.ask_all([request for some in requests.values() for request in some])
    trial.refuse_calls([pair for pair in trial.submission.replies.values() if answer.name in pair[0].answers])
    try:
        for request in (one for case, some in requests.items() if case.in_core for one in some):
            reply = trial.ask(request)
            if reply.raised:
                raise CheckFailed(f"the call: {trial.submission.no_return(reply.raised)}")
    except CheckFailed as failure:
        raise NotAsked(str(failure), failure.kind) from None


def own_test(function: Callable[..., None], name: str, category: str, trial: Trial) -> None:
    """A kata's own test function: `submission` and, where it asks for it, `draw`.

    One of the contract makes calls that should be refused.

    What the function raises counts against the submission, whose numbers may be any: the proofs show that neither
    right answers get there, nor what is altered in wrong.py.
    """
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {"submission": trial, "draw": trial.vectors.draw(name)}
    trial.refusable = category == "contract"
    try:
        function(**{argument: given[argument] for argument in wanted})
    except (AssertionError, CheckFailed) as failure:
        raise CheckFailed(str(failure) or "does not hold", getattr(failure, "kind", "fail")) from None
    except GraderError:
        raise
    except Exception as error:
        raise CheckFailed(f"the result: should be usable, got {type(error).__name__}: {error}") from error
    finally:
        trial.refusable = False

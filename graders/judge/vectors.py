"""A grader made concrete by a seed: the requests to send and what should come back.

Made once for all submissions of a run: a request that two of them are sent is one object, packed once.
"""

from __future__ import annotations

import functools
import inspect
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from graders.faults import GraderError
from graders.judge.expected import Expected, detached, refuse_result, same_form, same_tensors
from graders.judge.layouts import expanded, repeated, scattered, sliced
from graders.judge.modes import Choices, Met, Mode, choices_of, covering, fill, subsets
from graders.kata.draw import Draw
from graders.kata.scenario import on_ranks, source_of
from graders.kata.signatures import parameters_of
from graders.kata.spec import Answer, Arguments, Case, Grader, refuse_inputs
from graders.kata.tolerances import dtype_name
from graders.sandbox.messages import Measured, Request, floating
from graders.sandbox.returned import Returned, leaves_of
from graders.worker.communicator import RANKS, play

MOST_RANKS = 4  # of a call that is made in many modes: ranks take their time one after the other


class TestVectors:
    """Everything is made from (seed, kata, case), so a case is the same whichever others are asked."""

    __test__ = False  # not pytest's

    def __init__(self, kata: str, grader: Grader, seed: object, device: str = "cpu") -> None:
        self.kata = kata
        self.grader = grader
        self.seed = seed
        self.device = device
        self.expected = functools.cache(self._expected)
        self.arguments = functools.cache(self._arguments)
        self.parameters = functools.cache(self._parameters)
        self.request = functools.cache(self._request)
        self.requests = functools.cache(self._requests)
        self.crossed = functools.cache(self._crossed)
        self.forms: dict[bytes, Returned] = {}  # of what own tests ask, by the message
        self.quickest: dict[bytes, float] = {}  # seconds of the reference, by the message that asked for them

    def forget(self) -> None:
        for cached in (self.expected, self.arguments, self.parameters, self.request, self.requests, self.crossed):
            cached.cache_clear()
        self.forms.clear()

    def draw(self, name: str) -> Draw:
        return Draw(self.seed, self.kata, name)

    def _arguments(self, case: Case) -> list[Arguments]:
        """One entry per call of the case, floating tensors in float64."""
        several = case.calls(self.draw(case.name))
        for inputs in several:
            refuse_inputs(f"case {case.name}", inputs)
        return several

    def constructed(self, case: Case) -> Mapping[str, Any]:
        """The constructor's arguments."""
        return case.constructed(self.draw(case.name))

    def _parameters(self, answer: Answer, case: Case, dtype: torch.dtype) -> dict[str, Tensor]:
        if answer.parameters is None or case.inputs is None:
            return {}
        draw = self.draw(f"{case.name}/parameters")
        with case.blamed():
            shapes = answer.parameters(**self.constructed(case))
        return {
            name: draw.normal(*shape, std=shape[-1] ** -0.5 if len(shape) > 1 else 0.5).to(dtype)
            for name, shape in shapes.items()
        }

    def _requests(
        self, answer: Answer, case: Case, dtype: torch.dtype, gradients: bool = False, measured: Measured = ""
    ) -> list[Request]:
        """The calls of a case in the simplest way, where `gradients` says of all inputs or of none."""
        mode = Mode(dtype, gradients="pulled", leaves=answer.differentiable) if gradients else Mode(dtype)
        calls = [None] if case.inputs is None else range(len(self.arguments(case)))
        return [self.request(answer, case, mode, index, measured) for index in calls]

    def of_the_core(self) -> set[bytes]:
        """The messages of the calls by which the core is judged, own tests apart."""
        cases = [(answer, case) for answer in self.grader.answers for case in answer.cases if case.in_core]
        return {
            request.message
            for answer, case in cases
            for dtype in case.dtypes
            for pulled in {False, answer.differentiates_in(case)}
            for request in self.requests(answer, case, dtype, gradients=pulled)
        }

    def _crossed(self, answer: Answer) -> dict[str, list[tuple[int, Mode]]]:
        """For each case by its name, further calls by their index and mode.

        Each call that should return is also made once strided, next to another call, under no_grad; on
        more than a few ranks only where a case has no other.
        All else is drawn from the seed, so that every two levels of any two factors meet in some call: in the first,
        and what it lacks in the first that gradients reach in most ways. Others may be of one token, of equal ones or
        empty, where little can go wrong.
        """
        chooser = random.Random(f"{self.seed}/{self.kata}/{answer.name}")
        found: dict[str, list[tuple[int, Mode]]] = {case.name: [] for case in answer.cases}
        for raising in (False, True):
            cases = [case for case in answer.cases if bool(case.raises) == raising and case.inputs]
            calls = [(case, index) for case in cases for index in self.crossed_calls(case)]
            choices = [choices_of(answer, case, self.arguments(case)[index]) for case, index in calls]
            met: Met = defaultdict(Counter)
            most = max(range(len(calls)), key=lambda index: len(choices[index].levels["leaves"]), default=0)
            usual = () if raising else sorted({0, most})
            first = [(index, mode) for index in usual for _, mode in covering([], choices[index:][:1], chooser, met)]
            farthest = {"strided": True, "gradients": "recorded" if answer.records else "off"}
            slots = choices if raising else [choice.fixed(**farthest) for choice in choices]
            for index, mode in [*covering(slots, choices, chooser, met), *first]:
                case, call = calls[index]
                found[case.name].append((call, mode))
        return found

    def crossed_calls(self, case: Case) -> list[int]:
        calls = range(len(self.arguments(case)))
        if case.raises or not (case.scenario and on_ranks(case.scenario)):
            return [*calls]
        return [index for index in calls if len(self.arguments(case)[index][RANKS]) <= MOST_RANKS] or [*calls]

    def few_modes(self, answer: Answer, case: Case) -> list[Mode]:
        """Two modes of a large case's call, alike in as little as possible, in any of the usual dtypes."""
        chooser = random.Random(f"{self.seed}/{self.kata}/{answer.name}/{case.name}")
        choices = choices_of(answer, case, self.arguments(case)[0])
        gradients = [level for level in choices.levels["gradients"] if level != "recorded"] or ["recorded"]
        levels = {**choices.levels, "dtype": answer.cases[0].dtypes, "gradients": gradients}
        levels["phase"] = [(evaluating, switched) for evaluating, switched in levels["phase"] if not switched]
        quick = Choices(levels, choices.never).fixed(beside="", twice=False)
        met: Met = defaultdict(Counter)
        return [fill(quick, met, chooser) for _ in range(2)]

    def shareable(self, answer: Answer) -> list[tuple[Case, int, tuple[str, ...]]]:
        """Several inputs that may be one tensor, of the first call in which such have one shape and dtype.

        All that gradients should reach, or none; and not of one row or column, of which many a loss is 0.
        """
        cases = [case for case in answer.cases if case.inputs and not (case.raises or case.scenario)]
        calls = [(case, index, given) for case in cases for index, given in enumerate(self.arguments(case))]
        found: list[tuple[Case, int, tuple[str, ...]]] = []
        for learning in (True, False):
            for case, index, given in calls:
                tensors = {name: one for name, one in given.items() if isinstance(one, Tensor) and 1 not in one.shape}
                names = [name for name in tensors if (name in answer.differentiable) == learning]
                kinds = {name: (tensors[name].shape, tensors[name].dtype) for name in names}
                same = [[name for name in names if kinds[name] == kind] for kind in dict.fromkeys(kinds.values())]
                alike = [some for names in same for some in subsets(names) if len(some) > 1]
                if alike:
                    found += [(case, index, some) for some in alike]
                    break
        return found

    def expandable(self, answer: Answer) -> list[tuple[Case, int, str]]:
        """Each input with the first call in which it has a last axis, along which it could be the same.

        Floating ones only where the result follows them without jumps, since rounding differs with the layout.
        """
        found: dict[str, tuple[Case, int]] = {}
        for case in answer.cases if not answer.records else ():
            for index, given in enumerate(self.arguments(case) if case.inputs and not case.raises else ()):
                for name, value in given.items() if not case.scenario else ():
                    if isinstance(value, Tensor) and value.shape[-1:] > (1,):
                        smooth = answer.differentiable or not value.is_floating_point()
                        found |= {name: (case, index)} if smooth and name not in found else {}
        return [(case, index, name) for name, (case, index) in found.items()]

    def _request(self, answer: Answer, case: Case, mode: Mode, index: int | None, measured: Measured = "") -> Request:
        """`index` chooses the call of the case; None only constructs."""
        dtype, pulled = mode.dtype, mode.gradients == "pulled"
        several = 0 if index is None else len(self.arguments(case))
        parameters = {} if case.scenario else parameters_of(answer.forward or answer.signature)
        arguments = None if index is None else floating(self.arguments(case)[index], dtype)
        if arguments is not None and not case.scenario:
            arguments = {name: arguments[name] for name in sorted(arguments, key=list(parameters).index)}
        positional = sum(default is ... for default in parameters.values())
        laid_out = mode.strided and any(isinstance(value, Tensor) for value in (arguments or {}).values())
        lay_out = (sliced if mode.beside == "after" else scattered) if laid_out else None
        if arguments is not None and mode.equal:
            arguments |= dict.fromkeys(mode.equal, arguments[mode.equal[0]])
        if arguments is not None and mode.repeated:
            arguments[mode.repeated] = repeated(arguments[mode.repeated])
        if arguments is not None and lay_out:
            arguments = {name: expanded(value, lay_out) for name, value in arguments.items()}
        if arguments is not None and mode.passing == "positions":
            passed = list(parameters)[: list(parameters).index([*arguments][-1]) + 1]
            arguments = {name: arguments.get(name, parameters[name]) for name in passed}
            positional = len(arguments)
        usual = Mode(dtype, gradients="pulled", leaves=answer.differentiable) if pulled else Mode(dtype)
        told = replace(mode, strided=laid_out)
        words = told.words() if told != usual else dtype_name(dtype) if dtype != case.dtypes[0] else ""
        if lay_out and any(isinstance(value, Tensor) and 0 in value.stride() for value in (arguments or {}).values()):
            words = words.replace("strided", "strided and expanded")
        cotangents: tuple[Tensor, ...] = ()
        if pulled and index is not None and not measured:
            cotangents = self.expected(answer, case, dtype, index).cotangents
        return Request(
            target=case.scenario.__name__ if case.scenario else answer.name,
            scenario=source_of(case.scenario) if case.scenario else "",
            answers=self.answers_in(case.scenario) if case.scenario else (answer.name,),
            arguments=arguments,
            positional=0 if mode.passing == "names" else positional,
            constructor_arguments=self.constructed(case) if answer.forward and not case.scenario else None,
            parameters=self.parameters(answer, case, dtype),
            leaves=mode.leaves,
            cotangents=tuple(map(scattered, cotangents)) if mode.strided else cotangents,
            watched=not measured,
            shared=mode.equal if mode.shared else (),
            ways=mode.ways,
            beside=mode.beside,
            earlier_arguments={} if index is None or several < 2 else floating(self.arguments(case)[index - 1], dtype),
            device=self.device,
            measured=measured,
            tolerance=case.tolerance.get(dtype),
            rough=case.gradients == "finite",
            refusable=bool(case.raises),
            or_index=isinstance(case.raises, tuple),
            mode=words,
        )

    def _expected(self, answer: Answer, case: Case, dtype: torch.dtype, index: int) -> Expected:
        """The oracle in float64, on the values that the submission gets once they are rounded to `dtype`."""
        arguments = exact(floating(self.arguments(case)[index], dtype))
        parameters = {name: value.double() for name, value in self.parameters(answer, case, dtype).items()}
        leaves = {name: arguments[name] for name in answer.differentiable if isinstance(arguments.get(name), Tensor)}
        leaves |= parameters
        for leaf in leaves.values():
            leaf.requires_grad_()
        made = self.oracle(answer, case, parameters, arguments)
        refuse_result(f"case {case.name}", made)
        found_in = {where: leaf for where, leaf in leaves_of(made).items() if isinstance(leaf, Tensor)}
        outputs = [*found_in.values()]
        draw = self.draw(f"{case.name}/cotangents/{index}")
        cotangents: tuple[Tensor, ...] = ()
        found: dict[str, Tensor] = {}
        if leaves and case.gradients != "none":
            cotangents = tuple(draw.normal(*output.shape).to(dtype) for output in outputs)
            pairs = [(o, c.double()) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
            if not pairs:
                raise GraderError(f"case {case.name}: the oracle's output does not depend on {', '.join(leaves)}")
            total = torch.stack([(o * c).sum() for o, c in pairs]).sum()  # as in the worker
            gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
            found = {
                name: torch.zeros_like(leaf) if gradient is None else gradient
                for (name, leaf), gradient in zip(leaves.items(), gradients, strict=True)
            }
        learning = tuple(where for where, output in found_in.items() if output.requires_grad)
        return Expected(detached(made), cotangents, found, learning)

    def in_form(self, scenario: Callable[..., Any] | None, like: Returned, request: Request, result: Returned) -> None:
        """Whether what an own test got has the form, shapes and dtypes of `like`, or else of what the oracles return.

        Raises: CheckFailed; GraderError where neither is there.
        """
        values = *(request.arguments or {}).values(), *request.parameters.values()
        sent = [value.dtype for value in values if isinstance(value, Tensor) and value.is_floating_point()]
        wanted = self.formed(request, scenario) if like is None else like
        same_form(result, wanted)

        def dtypes(right: Tensor) -> tuple[torch.dtype, ...]:
            if like is not None:
                return (right.dtype,)
            return self.grader.answer(request.answers[0]).dtypes_of(right, sent[0] if sent else right.dtype)

        same_tensors(result, wanted, dtypes)

    def formed(self, request: Request, scenario: Callable[..., Any] | None) -> Returned:
        """What the oracles return where a kata's own test asks the submission. Raises: GraderError."""
        if request.message not in self.forms:
            asked = [self.grader.answer(name) for name in request.answers]
            lacking = [one.name for one in asked if not one.oracle or (scenario and one.forward)]
            if lacking:
                raise GraderError(
                    f"the test that asks for {request.target} should say what comes back, as like=…: "
                    f"{', '.join(lacking)} has no oracle that can be asked for it"
                )
            init = request.constructor_arguments or {}
            case = Case(request.target, lambda _: {}, init=init, scenario=scenario)
            made = self.oracle(asked[0], case, exact(request.parameters), exact(request.arguments or {}))
            refuse_result(f"the test that asks for {request.target}", made)
            self.forms[request.message] = detached(made)
        return self.forms[request.message]

    def oracle(self, answer: Answer, case: Case, parameters: dict[str, Tensor], arguments: Arguments) -> Any:
        """What the oracle returns, or the scenario with the oracles in the submission's place. Raises: GraderError."""
        with case.blamed():
            if case.scenario:
                right = {name: self.grader.answer(name).oracle for name in self.answers_in(case.scenario)}
                return played(case.scenario, **right)(**arguments)
            assert answer.oracle
            if not answer.forward:
                return answer.oracle(**arguments)
            return answer.oracle(parameters, **self.constructed(case), **arguments)

    def by_default(self, request: Request) -> str:
        """`dim=-1 by default`: what a call leaves to the defaults of the signature, those apart that are None."""
        answer = next((answer for answer in self.grader.answers if answer.name == request.target), None)
        if answer is None:  # a scenario
            return ""
        signatures = [(answer.signature, request.constructor_arguments if answer.forward else request.arguments)]
        signatures += [(answer.forward, request.arguments)] if answer.forward else []
        left = [
            f"{name}={default!r}"
            for signature, given in signatures
            if given is not None
            for name, default in parameters_of(signature).items()
            if default not in (..., None) and name not in given
        ]
        return f"{', '.join(left)} by default" if left else ""

    def answers_in(self, scenario: Callable[..., Any]) -> tuple[str, ...]:
        """What a scenario takes of the submission."""
        known = {answer.name for answer in self.grader.answers}
        return tuple(name for name in inspect.signature(scenario).parameters if name in known)


def played(scenario: Callable[..., Any], **answers: Any) -> Callable[..., Any]:
    """The scenario with these answers, on each rank if it is for several."""
    with_answers = functools.wraps(scenario)(functools.partial(scenario, **answers))
    return functools.partial(play, with_answers) if on_ranks(scenario) else with_answers


def exact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of tensors, in float64 where they are floating."""
    copied = {name: value.clone() if isinstance(value, Tensor) else value for name, value in values.items()}
    return floating(copied, torch.float64)

"""One submission at its test vectors: the room where the judge asks and the submission answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from graders.faults import CheckFailed
from graders.judge.expected import same_form
from graders.judge.modes import Mode
from graders.judge.results import BROKEN
from graders.judge.vectors import TestVectors
from graders.kata.scenario import source_of
from graders.kata.signatures import parameters_of
from graders.kata.spec import refuse_inputs
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import Returned
from graders.sandbox.submission import MOST_LINES, Submission

Costs = dict[str, dict[str, tuple[float, float]]]  # budget -> figure -> own, the reference's


class Trial:
    """One submission at its test vectors; what a kata's own test functions get as `submission`."""

    def __init__(
        self, vectors: TestVectors, submission: Submission, reference: Submission | None, costs: Costs
    ) -> None:
        self.vectors = vectors
        self.submission = submission
        self.reference = reference  # whose cost budgets are multiples of
        self.costs = costs
        self.verified: set[bytes] = set()  # large requests whose reply was right
        self.failing: dict[tuple[str, str], list[tuple[int, Mode]]] = {}  # calls in unusual modes, by answer and case
        self.last: Request | None = None
        self.refusable = False  # whether a kata's own test is calling what should be refused
        self.brief = False  # whether a check of cost only says whether it is kept: not what grows, nor if all is exact

    @property
    def reply(self) -> Reply:
        """To the last call; an empty one where it is not known any more."""
        return self.submission.replies.get(self.last.message if self.last else b"", (None, Reply()))[1]

    def ask(self, request: Request) -> Reply:
        """Raises: CheckFailed where nothing came back."""
        self.last = request
        reply = self.submission.ask(request)
        if reply.died:
            wanted = f"should raise {request.refusal}, but " * request.refusable
            raise CheckFailed(f"the call: {wanted}{reply.died}", "timeout" if reply.timed_out else "fail")
        if reply.printed_lines > MOST_LINES:
            most, got = f"{MOST_LINES:,}", f"{reply.printed_lines:,}"
            raise CheckFailed(f"the call: should print at most {most} lines, got {got}; remove the prints")
        return reply

    def ask_all(self, requests: list[Request]) -> None:
        """Ignores failures: the check that reads the reply raises them."""
        for request in requests:
            with contextlib.suppress(CheckFailed):
                self.submission.ask(request)

    def refuse_calls(self, asked: list[tuple[Request, Reply]]) -> None:
        """Raises: CheckFailed where one of these called what it may not."""
        offences = [(request, *call) for request, reply in asked for call in reply.banned_calls]
        for self.last, name, line in sorted(offences, key=lambda offence: offence[2] is None):  # known lines come first
            where = self.submission.at(line or self.submission.mention(name))
            raise CheckFailed(f"{BROKEN}{name} is not allowed in this kata, but is called{where}")

    def result(self, request: Request, wanted: Returned) -> Returned:
        """What the call returned, in the form of what is wanted: the same tuples, lists, dicts and kinds of leaves."""
        reply = self.ask(request)
        if reply.raised:
            self.refuse_calls([(request, reply)])  # which is why it raised
            raise CheckFailed(f"{request.in_words('the call')}: {self.submission.no_return(reply.raised)}")
        same_form(reply.result, wanted)
        for device in reply.devices:
            if request.has_tensors and device != request.device:  # else results are where torch makes them
                raise CheckFailed(f"device of the result: should be {request.device}, got {device}")
        return reply.result

    def call(
        self,
        name: str,
        *,
        init: dict[str, Any] | None = None,
        parameters: dict[str, Tensor] | None = None,
        like: Returned = None,
        **arguments: Any,
    ) -> Any:
        """Calls the submission from a kata's own test function; gives back what it returned, as `Submission` says."""
        answer = self.vectors.grader.answer(name)
        known = parameters_of(answer.forward or answer.signature)
        refuse_inputs(f"the call of {name}", arguments)
        return self.result_of(
            Request(
                target=name,
                answers=(name,),
                arguments={name: arguments[name] for name in sorted(arguments, key=list(known).index)},
                positional=sum(default is ... for default in known.values()),
                constructor_arguments=init,
                parameters=parameters or {},
                device=self.vectors.device,
                refusable=self.refusable,
                form=partial(self.vectors.in_form, None, like),
            )
        )

    def run(
        self,
        scenario: Callable[..., Any],
        *,
        like: Returned = None,
        summary: Callable[[Any], Any] | None = None,
        **inputs: Any,
    ) -> Any:
        """Runs a scenario from a kata's own test function; gives back what it returned, or the summary of that."""
        refuse_inputs(f"scenario {scenario.__name__}", inputs)
        return self.result_of(
            Request(
                target=scenario.__name__,
                scenario=source_of(scenario),
                answers=self.vectors.answers_in(scenario),
                arguments=inputs,
                positional=0,
                device=self.vectors.device,
                refusable=self.refusable,
                form=partial(self.vectors.in_form, scenario, like),
                summary=summary,
            )
        )

    def result_of(self, request: Request) -> Any:
        """What a kata's own test gets: nothing is handed out before its form is compared.

        What should be refused has no form: to whoever expects a CheckFailed, a wrong one would look like a refusal.
        """
        result = self.result(request, self.ask(request).result)
        return result if request.refusable else request.told(result)

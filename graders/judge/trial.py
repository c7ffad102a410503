"""One submission in one exam: the room where the judge asks and the submission answers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.judge.exam import Exam
from graders.judge.results import BROKEN
from graders.kata.spec import parameters_of
from graders.sandbox.messages import Reply, Request
from graders.sandbox.submission import MOST_LINES, Submission

Costs = dict[str, dict[str, tuple[float, float]]]  # budget -> figure -> own, the reference's


class Trial:
    """One submission in one exam; what a kata's own test functions get as `submission`."""

    def __init__(self, exam: Exam, submission: Submission, reference: Submission | None, costs: Costs) -> None:
        self.exam = exam
        self.submission = submission
        self.reference = reference  # whose cost budgets are multiples of
        self.costs = costs
        self.verified: set[bytes] = set()  # large requests whose reply was right
        self.last: Request | None = None

    @property
    def printed(self) -> str:
        """What the last call printed, where that is still known."""
        _, reply = self.submission.replies.get(self.last.message if self.last else b"", (None, None))
        return reply.printed if reply else ""

    def ask(self, request: Request) -> Reply:
        """Raises: CheckFailed where nothing came back."""
        self.last = request
        reply = self.submission.ask(request)
        if reply.died:
            raise CheckFailed(f"the call: {reply.died}", "timeout" if reply.hung else "fail")
        if reply.lines > MOST_LINES:
            raise CheckFailed(f"the call: should print nothing, got {reply.lines:,} lines; remove the prints")
        return reply

    def refuse_calls(self, asked: list[tuple[Request, Reply]]) -> None:
        """Raises: CheckFailed where one of these called what it may not."""
        offences = [(request, *call) for request, reply in asked for call in reply.calls]
        for self.last, name, line in sorted(offences, key=lambda offence: offence[2] is None):  # known lines come first
            where = self.submission.at(line or self.submission.mention(name))
            raise CheckFailed(f"{BROKEN}{name} may not be called in this kata, got it{where}")

    def outputs(self, request: Request, count: int | None) -> tuple[Tensor, ...]:
        """`count` tensors in a tuple, or one on its own where it is None."""
        reply = self.ask(request)
        if reply.raised:
            self.refuse_calls([(request, reply)])  # which is why it raised
            why = self.submission.explain(reply.raised)
            raise CheckFailed(f"{request.in_words('the call')}: should return, got {why}")
        tensors = tuple(output for output in reply.outputs if isinstance(output, Tensor))
        wanted = "a tensor" if count is None else f"a tuple of {count} tensors"
        if reply.is_tuple != (count is not None) or len(reply.outputs) != (count or 1):
            got = f"a tuple of {len(reply.outputs)}" if reply.is_tuple else reply.outputs[0]
            raise CheckFailed(f"the result: should be {wanted}, got {'a tensor' if isinstance(got, Tensor) else got}")
        if len(tensors) != len(reply.outputs):
            others = ", ".join("a tensor" if isinstance(output, Tensor) else output for output in reply.outputs)
            raise CheckFailed(f"the result: should be {wanted}, got {others}")
        for device in reply.devices:
            if device != request.device:
                raise CheckFailed(f"device of the result: should be {request.device}, got {device}")
        return tensors

    def call(
        self,
        name: str,
        *,
        init: dict[str, Any] | None = None,
        parameters: dict[str, Tensor] | None = None,
        **arguments: Any,
    ) -> Any:
        """Calls the submission from a kata's own test function; returns a tensor or a tuple of them, on the CPU."""
        answer = self.exam.grader.answer(name)
        required = [default is ... for default in parameters_of(answer.forward or answer.signature).values()]
        request = Request(
            target=name,
            arguments=arguments,
            positional=sum(required),
            init=init,
            parameters=parameters or {},
            device=self.exam.device,
        )
        count = len(self.exam.expected(answer, answer.cases[0], torch.float64, 0).outputs)
        is_tuple = self.exam.expected(answer, answer.cases[0], torch.float64, 0).is_tuple
        tensors = self.outputs(request, count if is_tuple else None)
        return tensors if is_tuple else tensors[0]

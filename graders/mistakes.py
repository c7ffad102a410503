"""Known wrong answers, and the diagnosis: which of them a failing submission behaves like, on every single case.

Ask for one only where all checks were asked: on some of the cases, one mistake often does what another does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from graders import compare
from graders.budgets import ROUGH
from graders.katas import Kata, load_module
from graders.messages import Reply, Request
from graders.processes import Launcher
from graders.spec import TOLERANCES, GraderError, Tolerance
from graders.submission import WHOLE_SECONDS, CheckFailed, Submission

EXACT = TOLERANCES[torch.float64]


@dataclass(frozen=True)
class Mistake:
    """A wrong answer as the smallest edits of the reference.

    Args:
        name: words joined by underscores, unique in its kata.
        diagnosis: what is wrong and what to do, in a sentence that goes on from "looks like".
        edits: text of the reference -> what stands there instead; each should match exactly once.
        also: further such edits of the reference, each the same mistake in another form, with other replies.
        slow: it gives the right values and only costs too much.
    """

    name: str
    diagnosis: str
    edits: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Mapping[str, str], ...] = ()
    slow: bool = False

    def forms(self, reference: str) -> dict[str, str]:
        """The source of each form, under the mistake's name, then name_2, name_3 …

        Raises: GraderError where an edit does not match exactly once.
        """
        every = enumerate((self.edits, *self.also), start=1)
        names = {self.name if number == 1 else f"{self.name}_{number}": edits for number, edits in every}
        return {name: edited(reference, name, edits) for name, edits in names.items()}


def edited(source: str, name: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        if source.count(old) != 1:
            raise GraderError(f"mistake {name}: {old!r} should occur once, got {source.count(old)}")
        source = source.replace(old, new)
    return source


def mistakes_of(kata: Kata) -> tuple[Mistake, ...]:
    """The MISTAKES of solutions/<topic>/<kata>/mistakes.py; none where a fork has removed the solutions."""
    path = kata.solutions / "mistakes.py"
    return tuple(load_module(path, f"mistakes_of_{kata.id}").MISTAKES) if path.exists() else ()


def equivalents_of(kata: Kata) -> dict[str, str]:
    """Mutant -> why it is no mistake, from the same file."""
    return dict(load_module(kata.solutions / "mistakes.py", f"mistakes_of_{kata.id}").EQUIVALENT)


class Diagnosis:
    """Replays what a failing submission was asked on every known mistake of its kata."""

    def __init__(self, kata: Kata, launcher: Launcher) -> None:
        self.kata = kata
        self.launcher = launcher

    @functools.cached_property
    def candidates(self) -> list[tuple[Mistake, Submission]]:
        if not self.kata.reference_file.exists():
            return []
        reference = self.kata.reference_file.read_text(encoding="utf-8")
        grader = self.kata.grader
        return [
            (mistake, Submission("mistake.py", source, grader.names, self.launcher, grader.banned))
            for mistake in mistakes_of(self.kata)
            for source in mistake.forms(reference).values()
        ]

    def name(self, failing: Submission, suspects: set[int], slow: bool) -> Mistake | None:
        """The first mistake with a form that gives the same reply to every request.

        `suspects`, requests by identity, are asked first.
        `slow` says that the values are right: then it is the first slow one that costs about the same, and the
        smallest requests are asked first, since the largest may take a loop very long.
        """
        asked = [request for request, _ in failing.replies.values()]
        asked.sort(key=lambda request: len(request.message) if slow else id(request) not in suspects)
        for _, one in self.candidates:
            if one.source == failing.source:  # a mistake itself: no need to run it again
                one.replies.update(failing.replies)
        return self.closest(failing, asked, slow)

    def closest(self, failing: Submission, asked: list[Request], slow: bool) -> Mistake | None:
        """The same, of the requests that may be asked."""
        asked = [request for request in asked if bool(request.measured) == slow]
        if not asked or failing.unloadable or failing.hangs or failing.seconds >= WHOLE_SECONDS:
            return None
        candidates = [(mistake, one) for mistake, one in self.candidates if mistake.slow == slow]
        return next((mistake for mistake, one in candidates if self.behave_alike(one, failing, asked)), None)

    def behave_alike(self, mistake: Submission, failing: Submission, asked: list[Request]) -> bool:
        if mistake is failing:
            return True
        try:
            for request in asked:
                reply = failing.ask(request)
                if not compare.agree(mistake.ask(request), reply, self.tolerance(request, reply)):
                    return False
        except CheckFailed:
            return False
        return True

    def tolerance(self, request: Request, reply: Reply) -> Tolerance:
        """That of the least precise tensor that was sent or returned; a rough one where the cost is what matters."""
        if request.measured:
            return ROUGH
        own = TOLERANCES | dict(self.kata.grader.answer(request.target).tolerance)
        values = [*(request.arguments or {}).values(), *request.parameters.values(), *reply.outputs]
        dtypes = {value.dtype for value in values if isinstance(value, torch.Tensor)} & TOLERANCES.keys()
        return max((own[dtype] for dtype in dtypes), key=lambda tolerance: tolerance.relative, default=EXACT)

    def close(self) -> None:
        for _, submission in self.__dict__.get("candidates", []):
            submission.close()

"""Known wrong answers, and the diagnosis: which of them a failing submission behaves like, on every single case.

Ask for one only where all checks were asked: on some of the cases, one mistake often does what another does.
"""

from __future__ import annotations

import functools
from collections import Counter

import torch

from graders.catalogue.katas import Kata
from graders.faults import CheckFailed
from graders.judge.agreement import agree
from graders.judge.budgets import ROUGH
from graders.judge.standard import BUILTIN_CALLED, Known, standard_mistakes
from graders.kata.spec import TOLERANCES, Tolerance
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import leaves_of
from graders.sandbox.submission import WHOLE_SECONDS, Submission

EXACT = TOLERANCES[torch.float64]


class Diagnosis:
    """Replays what a failing submission was asked on every known mistake of its kata."""

    def __init__(self, kata: Kata, launcher: Launcher) -> None:
        self.kata = kata
        self.launcher = launcher
        self.home = Home()  # of most
        self.told: Counter[bytes] = Counter()  # how often a request told two answers apart

    @functools.cached_property
    def candidates(self) -> list[tuple[Known, Submission]]:
        """The author's mistakes in all their forms, then those that every kata has."""
        if not self.kata.reference_file.exists():
            return []
        reference, grader = self.kata.reference_file.read_text(encoding="utf-8"), self.kata.grader
        own = [
            Known(mistake.name, source, mistake.diagnosis, mistake.slow, form)
            for mistake in self.kata.mistakes
            for form, source in mistake.forms(reference).items()
        ]
        known = [*own, *standard_mistakes(self.kata)]
        # What is measured lives alone, and what may import a library.
        alone = [one.slow or one.name == BUILTIN_CALLED for one in known]
        homes = [Home() if one else self.home for one in alone]
        return [
            (one, Submission("mistake.py", one.source, grader.names, self.launcher, grader.banned, home))
            for one, home in zip(known, homes, strict=True)
        ]

    def closest_mistake(self, failing: Submission, suspects: set[int], slow: bool) -> Known | None:
        """The first mistake with a form that gives the same reply to every request.

        `suspects`, requests by identity, are asked first. Where none of them is unusual, no unusual one is asked.
        `slow` says that the values are right: then it is the first slow one that costs about the same, and the
        smallest requests are asked first, since the largest may take a loop very long.
        """
        self.home.renew()
        asked = [request for request, _ in failing.replies.values()]
        if not any(request.unusual for request in asked if id(request) in suspects):
            asked = [request for request in asked if not request.unusual]
        asked.sort(key=lambda request: len(request.message) if slow else id(request) not in suspects)
        for _, one in self.candidates:
            if one.source == failing.source:  # a mistake itself: no need to run it again
                one.replies.update(failing.replies)
        return self.closest(failing, asked, slow)

    def closest(self, failing: Submission, asked: list[Request], slow: bool) -> Known | None:
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
            # What told the most so far comes first, then what costs nothing, since it was asked before.
            for request in sorted(asked, key=lambda one: (-self.told[one.message], one.message not in mistake.replies)):
                reply = failing.ask(request)
                if not agree(mistake.ask(request), reply, self.tolerance(request, reply)):
                    self.told[request.message] += not request.measured  # there, the smallest come first
                    return False
        except CheckFailed:
            return False
        return True

    def tolerance(self, request: Request, reply: Reply) -> Tolerance:
        """That of the least precise tensor that was sent or returned; a rough one where the cost is what matters.

        A tolerance of the case's own holds for the dtype that its inputs were sent in.
        """
        if request.measured:
            return ROUGH
        own = TOLERANCES | dict(self.kata.grader.answer(request.answers[0]).tolerance)
        inputs = [*(request.arguments or {}).values(), *request.parameters.values()]
        sent, returned = (
            {value.dtype for value in values if isinstance(value, torch.Tensor)} & TOLERANCES.keys()
            for values in (inputs, leaves_of(reply.result).values())
        )
        own |= {dtype: request.tolerance or own[dtype] for dtype in sent or returned}
        return max((own[dtype] for dtype in sent | returned), key=lambda one: one.relative, default=EXACT)

    def close(self, but_home: bool = False) -> None:
        """Ends the workers of all candidates, or of those alone that share none; what they answered is kept."""
        for _, submission in self.__dict__.get("candidates", []):
            if not (but_home and submission.home is self.home):
                submission.close()

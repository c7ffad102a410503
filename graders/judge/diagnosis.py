"""Known wrong answers, and the diagnosis: which of them a failing submission behaves like, on every single case.

Ask for one only where all checks were asked: on some of the cases, one mistake often does what another does.
"""

from __future__ import annotations

import functools
from collections import Counter

import torch

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, read_source
from graders.faults import CheckFailed
from graders.judge.agreement import agree, summed
from graders.judge.budgets import ROUGH
from graders.judge.standard import BUILTIN_CALLED, Known, standard_mistakes
from graders.kata.spec import TOLERANCES, Tolerance
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import leaves_of
from graders.sandbox.submission import WHOLE_SECONDS, Submission

SLOW = {"performance"}  # the categories of what fails where the values are right
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
            (one, Submission(Source(one.source, "mistake.py"), grader.names, self.launcher, grader.banned, home))
            for one, home in zip(known, homes, strict=True)
        ]

    def mistakes_in(self, failing: Submission, suspects: set[int], categories: set[str]) -> list[Known]:
        """The first mistake with a form that gives the same reply to every request, or two that share them.

        `suspects`, requests by identity, are asked first. Where none of them is unusual, no unusual one is asked, but
        for those that should be refused, which are asked in no other way.
        `categories` are those of the checks that fail, without missing refusals.
        """
        self.home.renew()
        asked = [request for request, _ in failing.replies.values()]
        if not any(request.unusual for request in asked if id(request) in suspects):
            asked = [request for request in asked if request.refusable or not request.unusual]
        asked.sort(key=lambda request: id(request) not in suspects)
        for _, one in self.candidates:
            if one.source.text == failing.source.text:  # a mistake itself: no need to run it again
                one.replies.update(failing.replies)
        one_alone = self.closest(failing, asked, categories)
        return [one_alone] if one_alone else self.two_in(failing, asked, categories)

    def closest(self, failing: Submission, asked: list[Request], categories: set[str]) -> Known | None:
        """The first mistake that gives the same reply to every request that tells something.

        Where cost alone is wrong, it is the first slow one that costs about the same.
        """
        slow, asked = categories == SLOW, self.telling(failing, asked, categories)
        candidates = [(mistake, one) for mistake, one in self.candidates if mistake.slow == slow]
        return next((mistake for mistake, one in candidates if asked and self.behave_alike(one, failing, asked)), None)

    def telling(self, failing: Submission, asked: list[Request], categories: set[str]) -> list[Request]:
        """The requests by which answers are compared; none where the submission hardly answers.

        Where more is wrong than refusals, what comes of bad arguments tells nothing: most first answers refuse none. Of
        those that are measured the smallest come first, since the largest may take a loop very long.
        """
        if failing.unloadable or failing.hangs or failing.seconds >= WHOLE_SECONDS:
            return []
        slow = categories == SLOW
        asked = [one for one in asked if bool(one.measured) == slow and not (categories and one.refusable)]
        return sorted(asked, key=lambda request: len(request.message)) if slow else asked

    def two_in(self, failing: Submission, asked: list[Request], categories: set[str]) -> list[Known]:
        """Two mistakes, one of which gives each wrong reply: what most see first, and what only some requests show.

        The second is right wherever it is not needed, and both are where the submission is.
        """

        asked = self.telling(failing, asked, categories)
        if categories in (SLOW, set()) or not self.candidates:
            return []

        def alike(one: Submission, other: Submission) -> set[int]:
            return {id(request) for request in asked if self.same_reply(one, other, request)}

        wrong = {id(request) for request in asked} - alike(self.right, failing)
        first = next((request for request in asked if id(request) in wrong), None)
        if first is None:
            return []
        candidates = [(known, one) for known, one in self.candidates if not known.slow and known.name != BUILTIN_CALLED]
        for known, one in candidates:
            if not self.same_reply(one, failing, first):
                continue
            left = wrong - alike(one, failing)
            rest = [request for request in asked if id(request) in left]
            if len(rest) == len(wrong) or not self.right_but(one, failing, asked, wrong):
                continue
            for other, two in candidates:
                if all(self.same_reply(two, failing, request) for request in rest) and self.right_but(
                    two, failing, asked, left
                ):
                    return [known, other]
        return []

    def right_but(self, mistake: Submission, failing: Submission, asked: list[Request], but: set[int]) -> bool:
        """Whether it replies as the reference does, but for these requests and those at which it does as `failing`."""
        return all(
            id(request) in but
            or self.same_reply(mistake, self.right, request)
            or self.same_reply(mistake, failing, request)
            for request in asked
        )

    @functools.cached_property
    def right(self) -> Submission:
        """The reference, asked beside the mistakes."""
        source, grader = read_source(self.kata.reference_file, "reference.py"), self.kata.grader
        return Submission(source, grader.names, self.launcher, grader.banned, self.home)

    def behave_alike(self, mistake: Submission, failing: Submission, asked: list[Request]) -> bool:
        if mistake is failing:
            return True
        # What told the most so far comes first, then what costs nothing, since it was asked before.
        for request in sorted(asked, key=lambda one: (-self.told[one.message], one.message not in mistake.replies)):
            if not self.same_reply(mistake, failing, request):
                self.told[request.message] += not request.measured  # there, the smallest come first
                return False
        return True

    def same_reply(self, one: Submission, other: Submission, request: Request) -> bool:
        try:
            its, reply = (summed(request, each.ask(request)) for each in (one, other))
            return agree(its, reply, self.tolerance(request, reply))
        except CheckFailed:  # one of them has taken too long already
            return False

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
        return max((own[dtype] for dtype in sent | returned), key=lambda one: one.relative + one.scaled, default=EXACT)

    def close(self, but_home: bool = False) -> None:
        """Ends the workers of all candidates, or of those alone that share none; what they answered is kept."""
        for _, submission in self.__dict__.get("candidates", []):
            if not (but_home and submission.home is self.home):
                submission.close()

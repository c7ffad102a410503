"""Known wrong answers, and the diagnosis: which of them a failing submission behaves like, in all cases or in the core.

Ask for one only where all checks were asked: on some of the cases, one mistake often does what another does.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, read_source
from graders.faults import CheckFailed
from graders.judge.agreement import Agreement, refused
from graders.judge.pairs import together
from graders.judge.shares import MOST, Shares
from graders.judge.standard import (
    BUILTIN_CALLED,
    NOT_REFUSED,
    OTHERWISE,
    Known,
    rules_in,
    standard_mistakes,
)
from graders.judge.vectors import TestVectors
from graders.kata.tolerances import HALF
from graders.sandbox.dialogue import Home
from graders.sandbox.launcher import Launcher
from graders.sandbox.messages import Request
from graders.sandbox.submission import WHOLE_SECONDS, Submission

SLOW = {"performance"}  # the categories of what fails where the values are right
LAST = (True, sys.maxsize)  # behind the place of any check
ANEW = "drawn anew"  # the seed of further inputs, the same in every run: what fits by chance in one hardly fits there


class Diagnosis:
    """Replays what a failing submission was asked on every known mistake of its kata."""

    def __init__(self, kata: Kata, launcher: Launcher) -> None:
        self.kata = kata
        self.launcher = launcher
        self.home = Home()  # of most
        self.told: Counter[bytes] = Counter()  # how often a request told two answers apart
        self.both = Agreement(kata.grader)  # of two submissions
        self.anew = TestVectors(kata.id, kata.grader, ANEW)

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

    @functools.cached_property
    def shares(self) -> Shares:
        """Of the mistakes that give wrong values."""
        forms: dict[str, list[Submission]] = {}
        wrong = [(known, one) for known, one in self.candidates if not known.slow]
        for known, one in wrong:
            forms.setdefault(known.name, []).append(one)
        among = [(known, forms[name]) for name, known in {known.name: known for known, _ in wrong}.items()]
        return Shares(self.both, self.right, among)

    def mistakes_in(
        self,
        failing: Submission,
        suspects: Mapping[int, tuple[bool, int]],
        categories: set[str],
        core: Callable[[], set[bytes]] = set,
    ) -> list[Known]:
        """The first mistake with a form that gives the same reply to every request, or a few that share them.

        Of answers that no request takes together, each has mistakes of its own.

        An answer that casts half precision to float32 makes a mistake there in another way than one that does not. So
        where no mistake gives all, the calls in half precision are left out.

        First answers often leave edges for later, where a mistake of the core then meets others in one call. So where
        the core fails and no mistake gives all, its calls are looked at alone, if one of them is wrong: `core` makes
        their messages.

        A mistake is named only if it gives the same at inputs drawn anew as well.

        `suspects`, requests by identity with their places, are asked first. Where none of them is unusual, no unusual
        one is asked, but for those that should be refused, which are asked in no other way.
        `categories` are those of the checks that fail, without missing refusals.
        """
        self.home.renew()
        self.both.known.clear()
        asked = [request for request, _ in failing.replies.values()]
        categories = told_by(asked, categories)
        if not any(request.unusual for request in asked if id(request) in suspects):
            asked = [request for request in asked if request.refusable or not request.unusual]
        asked.sort(key=lambda request: suspects.get(id(request), LAST))
        asked += self.drawn_anew if categories - SLOW else []
        for _, one in self.candidates:
            if one.source.text == failing.source.text:  # a mistake itself: no need to run it again
                one.replies.update(failing.replies)
        inside = functools.cache(lambda: core() | self.anew.of_the_core())

        def in_core(one: Request) -> bool:
            return not all(beyond for beyond, _ in suspects.values()) and one.message in inside()

        found = self.named(failing, asked, suspects, categories, in_core)
        if not categories or categories == SLOW:
            return found
        found = found or self.named_in(failing, [one for one in asked if not in_half(one)], suspects, categories)
        found = found or self.named_in(failing, [one for one in asked if in_core(one)], suspects, categories)
        first = min(asked, key=lambda request: suspects.get(id(request), LAST))
        if suspects.get(id(first), LAST)[0] or self.shares.give_some(found, failing, first):
            return found
        inside_core = [one for one in asked if in_core(one) or not suspects.get(id(one), LAST)[0]]
        told = self.telling(failing, inside_core, categories)
        mine = next((part for part in apart(told) if first in part), [])
        pair = together(self.kata, self.both, self.candidates, self.right, failing, mine)
        told = self.telling(failing, asked, categories)
        return [*pair, *(found if pair else self.elsewhere(found, failing, told, first))][:MOST]

    @functools.cached_property
    def drawn_anew(self) -> list[Request]:
        """The cases' calls in the simplest way, with other inputs than the run's."""
        return [
            request
            for answer in self.kata.grader.answers
            for case in answer.cases
            if not case.raises
            for dtype in case.dtypes
            for request in self.anew.requests(answer, case, dtype, answer.differentiates_in(case))
        ]

    def named_in(
        self, failing: Submission, some: list[Request], suspects: Mapping[int, Any], categories: set[str]
    ) -> list[Known]:
        """The mistakes that a part of what was asked shows, if something is wrong there."""
        return self.named(failing, some, suspects, categories) if any(id(one) in suspects for one in some) else []

    def named(
        self,
        failing: Submission,
        asked: list[Request],
        suspects: Mapping[int, Any],
        categories: set[str],
        in_core: Callable[[Request], bool] = lambda _: False,
    ) -> list[Known]:
        """What is to be named of the mistakes that these requests show.

        Where something is known of one answer, an answer whose core is wrong is not left out for its edges.

        Answers that pass every check make none, even where they differ from the reference, as free gradients do.
        """
        told = self.telling(failing, asked, categories)
        self.both.lenient = bool(categories) and not any(refused(failing.ask(request)) for request in told)
        one_alone = self.closest(failing, asked, categories)
        if one_alone or categories == SLOW or not self.candidates:
            return [one_alone] if one_alone else []
        if not categories:
            return self.not_refused(failing, asked)
        found = [
            (part, self.shares.explained(failing, part) if any(id(request) in suspects for request in part) else [])
            for part in apart(told)
        ]
        unexplained = [request for part, known in found if not known for request in part]
        sure = [one for _, some in found for one in some if self.shares.spares(one, unexplained)]
        known: dict[str, Known] = {}
        for part, some in found:
            core = [request for request in part if sure and not some and in_core(request)]
            if any(id(request) in suspects for request in core):
                others = [request for request in told if in_core(request) and request not in part]
                inside = self.shares.explained(failing, core, [*sure, *known.values()], others)
                known |= {one.diagnosis: one for one in inside}
            known |= {one.diagnosis: one for one in some if one in sure}
        return [*known.values()][:MOST]

    def closest(self, failing: Submission, asked: list[Request], categories: set[str]) -> Known | None:
        """The first mistake that gives the same reply to every request that tells something.

        Where cost alone is wrong, it is the first slow one that costs about the same.
        """
        categories = told_by(asked, categories)
        slow, asked = categories == SLOW, self.telling(failing, asked, categories)
        asked = sorted(asked, key=lambda one: -self.told[one.message])
        candidates = [(mistake, one) for mistake, one in self.candidates if mistake.slow == slow]
        found = next((mistake for mistake, one in candidates if asked and self.behave_alike(one, failing, asked)), None)
        if found and categories and not slow and all(self.both.same_reply(self.right, failing, one) for one in asked):
            return None  # what is wrong is in none of these
        return found

    def telling(self, failing: Submission, asked: list[Request], categories: set[str]) -> list[Request]:
        """The requests by which answers are compared; none where the submission hardly answers.

        Where more is wrong than refusals, what comes of bad arguments tells nothing: most first answers refuse none. Of
        those that are measured the smallest come first, since the largest may take a loop very long, and those that
        were cut short tell nothing.
        """
        slow = categories == SLOW
        if failing.unloadable or (failing.hangs and not slow) or failing.seconds >= WHOLE_SECONDS:
            return []
        asked = [one for one in asked if bool(one.measured) == slow and not (categories and one.refusable)]
        if categories and not slow:
            asked = [one for one in asked if not self.refused(one)]  # in whichever check
        if not slow:
            return asked
        return sorted((one for one in asked if not cut(failing, one)), key=lambda one: len(one.message))

    def refused(self, request: Request) -> bool:
        """Whether the reference refuses it."""
        if not self.candidates:
            return False
        try:
            return refused(self.right.ask(request))
        except CheckFailed:
            return False

    def not_refused(self, failing: Submission, asked: list[Request]) -> list[Known]:
        """By which of its rules the reference refuses what it does not, whatever it does instead, in one sentence."""
        source, lines = self.right.source.text, set[int | None]()
        for request in asked:
            wanted = self.right.ask(request).raised if self.refused(request) else None
            if request.refusable and wanted and not self.both.same_reply(self.right, failing, request):
                lines.add(wanted.line)
        found = [
            (number, rule)
            for number, (node, rule) in enumerate(rules_in(self.kata, source), start=1)
            if lines.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        ]
        broken = "; ".join(dict.fromkeys(rule for _, rule in found))
        return [Known(f"not_refused_{number}", "", f"{NOT_REFUSED}{broken}{OTHERWISE}") for number, _ in found[:1]]

    def elsewhere(self, known: list[Known], failing: Submission, asked: list[Request], first: Request) -> list[Known]:
        """The mistakes, with the names of the functions that they are about, where those are not what fails first."""
        answers = next((one.answers for one in asked if self.shares.give_some(known[:1], failing, one)), first.answers)
        if not set(answers).isdisjoint(first.answers) or any(name in known[0].diagnosis for name in answers):
            return known
        return [known[0]._replace(diagnosis=f"in {' and '.join(answers)}, {known[0].diagnosis}"), *known[1:]]

    @functools.cached_property
    def right(self) -> Submission:
        """The reference, asked beside the mistakes."""
        source, grader = read_source(self.kata.reference_file, "reference.py"), self.kata.grader
        return Submission(source, grader.names, self.launcher, grader.banned, self.home)

    def behave_alike(self, mistake: Submission, failing: Submission, asked: list[Request]) -> bool:
        if mistake is failing:
            return True
        known = (request for request in asked if request.message in mistake.replies)  # which cost nothing
        unknown = (request for request in asked if request.message not in mistake.replies)
        for request in itertools.chain(known, unknown):
            alike = self.both.same_reply(mistake, failing, request)
            if not alike and (request is asked[0] or not cut(mistake, request)):
                self.told[request.message] += not request.measured  # there, the smallest come first
                return False
        return True

    def close(self, but_home: bool = False) -> None:
        """Ends the workers of all candidates, or of those alone that share none; what they answered is kept."""
        for _, submission in self.__dict__.get("candidates", []):
            if not (but_home and submission.home is self.home):
                submission.close()


def told_by(asked: Sequence[Request], categories: set[str]) -> set[str]:
    """The categories; but if no call is measured, a cost is read from replies, which are compared as values are."""
    return categories if any(request.measured for request in asked) else categories and {"rules"}


def cut(submission: Submission, request: Request) -> bool:
    """Whether only time or memory, which it has more or less of, kept a measured call from being compared."""
    known = submission.replies.get(request.message)
    return bool(request.measured) and (known is None or known[1].cut_short)


def in_half(request: Request) -> bool:
    return any(isinstance(one, Tensor) and one.dtype in HALF for one in (request.arguments or {}).values())


def apart(asked: list[Request]) -> list[list[Request]]:
    """In groups, each of the answers that some request takes together."""
    together: dict[str, set[str]] = {}
    for request in asked:
        group = set(request.answers).union(*(together.get(name, ()) for name in request.answers))
        together |= dict.fromkeys(group, group)
    groups: dict[int, list[Request]] = {}
    for request in asked:
        groups.setdefault(id(together[request.answers[0]]), []).append(request)
    return [*groups.values()]

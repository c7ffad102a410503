"""Several mistakes in one answer: as few known ones as it takes for all that is wrong with its replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graders.judge.agreement import WHOLE, Agreement
from graders.judge.standard import Known
from graders.sandbox.messages import Request
from graders.sandbox.submission import Submission

MOST = 3  # mistakes that are named at a time
Part = tuple[Request, str]  # of a reply, by its name
WithForms = tuple[Known, list[Submission]]


@dataclass(frozen=True)
class Shares:
    """What each known mistake, in any of its forms, gives of what is wrong; `right` is the reference."""

    both: Agreement
    right: Submission
    among: Sequence[WithForms]

    def explained(
        self,
        failing: Submission,
        asked: list[Request],
        sure: Sequence[Known] = (),
        others: Sequence[Request] = (),
    ) -> list[Known]:
        """As few mistakes as it takes for all that is wrong with these replies, the sure ones first; else none.

        In the other calls, each is right, or as wrong as the submission.
        """
        wrong = [(request, part) for request in asked for part in self.both.differences(self.right, failing, request)]
        among = sorted(self.among, key=lambda one: one[0] not in sure)
        tries = (self.sharing(failing, [*asked, *others], wrong, most, among) for most in range(1, MOST + 1))
        return next(filter(None, tries), []) if wrong else []

    def spares(self, known: Known, asked: list[Request]) -> bool:
        """Whether some form of it is right in all of these calls, in which nothing known is wrong."""
        forms = next(forms for one, forms in self.among if one is known)
        return any(all(self.both.same_reply(self.right, one, request) for request in asked) for one in forms)

    def sharing(
        self, failing: Submission, asked: list[Request], wrong: list[Part], most: int, among: Sequence[WithForms]
    ) -> list[Known]:
        """At most so many mistakes that give each wrong part of a reply: the first one the first, others the rest."""
        for known, forms in among:
            left = self.left_by(forms, failing, asked, wrong)
            if not left:
                return [known]
            rest = self.sharing(failing, asked, left, most - 1, among) if wrong[0] not in left and most > 1 else []
            if rest:
                return [known, *rest]
        return []

    def left_by(
        self, forms: list[Submission], failing: Submission, asked: list[Request], wrong: list[Part]
    ) -> list[Part]:
        """What no form of a mistake gives; all of it where none gives the first part.

        Each form is right wherever it is not needed, or where it is not, as the submission is.
        """
        left, others = wrong, dict[int, set[str]]()
        for request, name in wrong:
            others.setdefault(id(request), set()).add(name)
        for one in sorted(forms, key=lambda one: not self.gives(one, failing, wrong[0])):
            if wrong[0] in left and not self.gives(one, failing, wrong[0]):
                return wrong
            rest = [part for part in left if not self.gives(one, failing, part)]
            if len(rest) < len(left) and self.right_but(one, failing, asked, others):
                left = rest
        return left

    def gives(self, mistake: Submission, failing: Submission, part: Part) -> bool:
        """Whether this part of its reply is the submission's."""
        return {part[1], WHOLE}.isdisjoint(self.both.differences(mistake, failing, part[0]))

    def right_but(
        self, mistake: Submission, failing: Submission, asked: list[Request], others: Mapping[int, set[str]]
    ) -> bool:
        """Whether each part of its replies is the reference's or `failing`'s, but for those that are left to others."""

        def fits(request: Request) -> bool:
            its = {*self.both.differences(mistake, failing, request)}
            right = {*self.both.differences(mistake, self.right, request)} if its else its
            left = others.get(id(request), set())
            return WHOLE in left if right and WHOLE in its | right else its & right <= left

        return all(map(fits, asked))

    def give_some(self, known: Sequence[Known], failing: Submission, request: Request) -> bool:
        """Whether these give some of what is wrong with the reply."""
        names = {one.name for one in known}
        forms = [form for one, forms in self.among if one.name in names for form in forms]
        wrong = self.both.differences(self.right, failing, request) if forms else []
        return any(self.gives(one, failing, (request, part)) for one in forms for part in wrong)

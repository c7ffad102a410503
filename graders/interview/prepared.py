"""What is prepared about one kata: said by the terminal, or by whoever has the interviewer's page."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import TYPE_CHECKING

from graders.catalogue import texts
from graders.catalogue.katas import Kata
from graders.catalogue.texts import Question
from graders.interview import draw
from graders.interview.contract import Contract

if TYPE_CHECKING:
    from graders.sitting.matching import Matcher


class Prepared:
    """The texts of a kata.

    Its `clarifying` questions are its own, by their place, and after them `questions` has those about any kata.
    """

    def __init__(self, kata: Kata, seed: int, coming: Collection[str] = ()) -> None:
        """Of what gives away a `coming` kata, nothing is asked at the end. Raises: UsageError."""
        self.kata = kata
        self.prompt = texts.prompt(kata)
        self.clarifying = texts.clarifying(kata)
        self.general = texts.general(kata)
        self.questions = [*self.clarifying, *self.general]
        self.hints = texts.hints(kata)
        self.twist = texts.twist(kata)
        known = [one for one in texts.follow_ups(kata) if not {*coming} & {*one.gives_away}]
        self.follow_ups = draw.follow_ups(known, seed, kata.id)
        self.is_written = bool(coming)  # the twist, and so it is not talked about

    @property
    def asked(self) -> list[Question]:
        """What is asked at the end; last comes the twist."""
        return self.follow_ups + ([self.twist.question] if self.twist and not self.is_written else [])

    @functools.cached_property
    def matcher(self) -> Matcher:
        """Understands questions; made when the first is asked, since that takes a second."""
        from graders.sitting.matching import matcher_of

        return matcher_of(self.kata)

    @functools.cached_property
    def contract(self) -> Contract:
        """Answers what everybody asks."""
        return Contract(self.kata, self.questions)

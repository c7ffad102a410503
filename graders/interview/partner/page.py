"""The page of the person who plays the interviewer: what to say, what to look for, and a score sheet to tick."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from graders import pages
from graders.catalogue import texts
from graders.catalogue.bugs import right_file
from graders.catalogue.katas import Kata
from graders.catalogue.texts import HINTS, Question, Twist
from graders.interview import draw
from graders.interview.follow_up import SCORES
from graders.interview.partner import sheet
from graders.interview.partner.sheet import Sheet
from graders.interview.record import MOST_SELF
from graders.interview.round import EARNED, HINT_COSTS, MOST_EARNED, PHASES

HERE = Path(__file__).parent
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


@dataclass(frozen=True)
class Part:
    """What is said and looked for about one kata.

    Args:
        kata: which it is.
        prompt: the task, with details left out.
        clarifying: what a good candidate asks about those, with the answers.
        general: what is asked about any kata.
        hints: from a nudge to nearly the code; the second is the idea of a plan.
        facts: what must hold, and so what good tests try.
        follow_ups: the questions at the end, with the answers.
        twist: the change of the requirement, where there is one.
        solution: a right answer.
        minutes: that each phase should take.
    """

    kata: Kata
    prompt: str
    clarifying: list[Question]
    general: list[Question]
    hints: list[str]
    facts: list[str]
    follow_ups: list[Question]
    twist: Twist | None
    solution: str
    minutes: dict[str, int]


def part_of(kata: Kata, seed: int) -> Part:
    """Raises: UsageError, GraderError."""
    from graders.interview.debrief import SHARES, facts  # it imports scikit-learn, which takes a second

    return Part(
        kata,
        texts.prompt(kata),
        texts.clarifying(kata),
        texts.general(kata),
        texts.hints(kata),
        [LINK.sub(r"\1", one.text) for one in facts(kata) if one.cases],
        draw.follow_ups(texts.follow_ups(kata), seed, kata.id),
        texts.twist(kata),
        right_file(kata),
        {phase: max(round(kata.about.minutes * SHARES[phase]), 1) for phase in PHASES},
    )


def page_of(katas: Sequence[Kata], minutes: int, seed: int) -> str:
    """The page of the partner as HTML: equal for equal katas, minutes and seed. Raises: UsageError, GraderError."""
    sheets = [Sheet.of(kata, seed) for kata in katas]
    script = (HERE / "sheet.js").read_text(encoding="utf-8")
    return (
        pages.environment(HERE)
        .get_template("page.html.jinja")
        .render(
            parts=[part_of(kata, seed) for kata in katas],
            minutes=minutes,
            seed=seed,
            titles=HINTS,
            costs=HINT_COSTS,
            earned=EARNED,
            most_earned=MOST_EARNED,
            most=MOST_SELF,
            scores=SCORES,
            fields={
                "letters": sheet.LETTERS,
                "check": sheet.CHECK,
                "spread": sheet.SPREAD,
                "salt": sheet.salt(seed, sheets),
                "length": sheet.length(sheets),
                "name": sheet.name(seed, sheets),
            },
            script=Markup(script),
            digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )

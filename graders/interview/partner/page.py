"""The page of the person who plays the interviewer: what to say, what to look for, and a score sheet to tick."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from graders import pages
from graders.catalogue.bugs import right_file
from graders.catalogue.katas import Kata
from graders.catalogue.texts import HINTS
from graders.interview.follow_up import SCORES
from graders.interview.partner import sheet
from graders.interview.partner.sheet import Sheet
from graders.interview.prepared import Prepared
from graders.interview.record import MOST_SELF
from graders.interview.round import EARNED, HINT_COSTS, MOST_EARNED, PHASES

HERE = Path(__file__).parent
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


class Part(Prepared):
    """What is said and looked for about one kata.

    Args:
        facts: what must hold, and so what good tests try.
        solution: a right answer.
        minutes: that each phase should take.
    """

    def __init__(self, kata: Kata, seed: int) -> None:
        """Raises: UsageError, GraderError."""
        from graders.interview.debrief import SHARES, facts  # it imports scikit-learn, which takes a second

        super().__init__(kata, seed)
        self.facts = [LINK.sub(r"\1", one.text) for one in facts(kata) if one.cases]
        self.solution = right_file(kata)
        self.minutes = {phase: max(round(kata.about.minutes * SHARES[phase]), 1) for phase in PHASES}


def page_of(katas: Sequence[Kata], minutes: int, seed: int) -> str:
    """The page of the partner as HTML: equal for equal katas, minutes and seed. Raises: UsageError, GraderError."""
    parts = [Part(kata, seed) for kata in katas]
    sheets = [Sheet.of(part) for part in parts]
    script = (HERE / "sheet.js").read_text(encoding="utf-8")
    return (
        pages.environment(HERE)
        .get_template("page.html.jinja")
        .render(
            parts=parts,
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

"""The interviewer's scores as a short code, which the page shows and the candidate's terminal reads.

Every field of the sheet is a digit of a number, with a base of its own; sheet.js writes the number, and this reads it.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from graders.faults import UsageError
from graders.interview.prepared import Prepared
from graders.interview.record import MOST_SELF
from graders.interview.round import HINT_COSTS

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # none that is taken for another one
AS_PYTHON = str.maketrans(LETTERS, "0123456789ABCDEFGHIJKLMNOPQRSTUV")  # as int reads them
MISREAD = str.maketrans("OIL", "011", "- ")
CHECK = 1021  # a prime, so that each wrong letter and each swapped pair shows
SPREAD = 397  # by which a check depends on the number
TICK = 2  # the base of a box that is ticked or not
SCORE = MOST_SELF + 2  # of a score, 0 of the field being none
HINTS = len(HINT_COSTS) + 1


@dataclass(frozen=True)
class Sheet:
    """What an interviewer is asked to tick about a kata.

    Args:
        kata: its name.
        clarifying: how many questions are prepared for the candidate to ask.
        questions: those at the end, with the twist, where there is one, as the last.
    """

    kata: str
    clarifying: int
    questions: tuple[str, ...]

    @classmethod
    def of(cls, prepared: Prepared) -> Sheet:
        return cls(prepared.kata.id, len(prepared.clarifying), tuple(one.question for one in prepared.asked))

    @property
    def bases(self) -> list[int]:
        """Of its fields, in the page's order: questions asked, the plan, hints given, answers at the end."""
        return [TICK] * self.clarifying + [SCORE, HINTS] + [SCORE] * len(self.questions)


@dataclass(frozen=True)
class Scores:
    """What was ticked about a kata.

    Args:
        kata: its name.
        asked: the prepared questions that the candidate asked, by number, from 1.
        plan: its score; None where it has none.
        hints: how many were given.
        answers: question -> the score of its answer, where it has one.
    """

    kata: str
    asked: list[int]
    plan: int | None
    hints: int
    answers: dict[str, int]


def name(seed: int, sheets: Sequence[Sheet]) -> str:
    """Tells one interview from others."""
    return " ".join([str(seed), *(one.kata for one in sheets)])


def salt(seed: int, sheets: Sequence[Sheet]) -> int:
    """Tells its codes from those of others."""
    return zlib.crc32(name(seed, sheets).encode()) % CHECK


def length(sheets: Sequence[Sheet]) -> int:
    """Of a code, in letters."""
    largest = math.prod(base for sheet in sheets for base in sheet.bases) * (1 << CHECK.bit_length()) - 1
    return -(-largest.bit_length() // 5)


def read(code: str, seed: int, sheets: Sequence[Sheet]) -> list[Scores]:
    """Raises: UsageError where it is no code of this interview."""
    letters = code.upper().translate(MISREAD)
    if len(letters) != length(sheets) or not set(letters) <= set(LETTERS):
        raise UsageError(f"the code has {length(sheets)} letters and digits, as the page's end shows it; got {code!r}")
    number = int(letters.translate(AS_PYTHON), len(LETTERS))
    number, check = divmod(number, 1 << CHECK.bit_length())
    right = check == (SPREAD * number + salt(seed, sheets)) % CHECK
    digits: list[int] = []
    for base in [base for one in sheets for base in one.bases][::-1]:
        number, digit = divmod(number, base)
        digits.append(digit)
    if number or not right:
        raise UsageError("that is no code of this interview: a letter is wrong, or the page is another interview's")
    return [scores(one, [digits.pop() for _ in one.bases]) for one in sheets]


def scores(sheet: Sheet, digits: Sequence[int]) -> Scores:
    """What its fields say."""
    ticks, (plan, hints, *answers) = digits[: sheet.clarifying], digits[sheet.clarifying :]
    asked = [number for number, tick in enumerate(ticks, start=1) if tick]
    given = {one: digit - 1 for one, digit in zip(sheet.questions, answers, strict=True) if digit}
    return Scores(sheet.kata, asked, plan - 1 if plan else None, hints, given)

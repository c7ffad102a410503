"""Calls of a function that a scenario gives to an answer: noted there as they come, judged here, shown as a table.

The scenario's function first notes a copy of what it got, since the answer may change it later, and then works:

    calls = []

    def step(texts):
        calls.append([[*text] for text in texts])
        return …

The scenario returns the notes, one item for each call in the order of the calls, and no verdict. If each call is known
beforehand, a case compares the notes with the oracle's, and a message shows both as a table. If only a limit
is known, a test of the kata holds the notes against it (`within`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

BEFORE, AFTER = 2, 5  # rows that are shown before the first that differs, and from it on
WIDEST = 28  # characters of a row on each side
LONGEST = 60  # of a row in a sentence
FEW = 3  # tokens of each text that are shown of a row that is wider
MARK, NOTHING, NO_MORE, CUT = ">", "–", "no more", "…"


def is_table(value: object) -> TypeGuard[list[list[Any]]]:
    """Whether it is a list of lists: texts in calls, indices in batches."""
    return isinstance(value, list) and all(isinstance(row, list) for row in value)


def first_difference(got: Sequence[list[Any]], wanted: Sequence[list[Any]]) -> str:
    """ "should be X in row 2, got Y; 5 rows in all, got 4", and below it a table of both."""
    first = differing(got, wanted)[0]
    right, there = (cut(repr(one[first])) if first < len(one) else NO_MORE for one in (wanted, got))
    lengths = f"; {len(wanted)} rows in all, got {len(got)}" if len(wanted) != len(got) else ""
    return f"should be {right} in row {first + 1}, got {there}{lengths}\n{beside(got, wanted)}"


def differing(got: Sequence[object], wanted: Sequence[object]) -> list[int]:
    """The places, from 0 on, that differ; those that only one of the two has are among them."""
    most = max(len(got), len(wanted))
    return [i for i in range(most) if i >= min(len(got), len(wanted)) or got[i] != wanted[i]]


def beside(got: Sequence[list[Any]], wanted: Sequence[list[Any]]) -> str:
    """Two tables side by side, a line for each row, numbered from 1, from shortly before where they first differ.

    What one side lacks, such as the text of an idle slot, is a dash; rows that differ are marked.
    """
    wrong = differing(got, wanted)
    start = max((wrong or [0])[0] - BEFORE, 0)
    places = range(start, min(max(len(got), len(wanted)), start + BEFORE + AFTER))
    sides = [[row_in_words(side, other, i) for i in places] for side, other in ((wanted, got), (got, wanted))]
    width = max(map(len, ("should be", *sides[0])))
    lines = [f"       {'should be':{width}}  got"]
    for i, right, there in zip(places, *sides, strict=True):
        lines.append(f"{MARK if i in wrong else ' '} {i + 1:>3}  {right:{width}}  {there}")
    return "\n".join([*lines, *[f"  {CUT:>3}"] * (max(len(got), len(wanted)) > places.stop)])


def row_in_words(side: Sequence[list[Any]], other: Sequence[list[Any]], i: int) -> str:
    """`3 4 1 | 7`, a row's items; dashes stand for those that the same row has more of on the other side."""
    if i >= len(side):
        return NO_MORE
    nested = any(isinstance(item, list) for row in (*side[i : i + 1], *other[i : i + 1]) for item in row)
    lacking = [NOTHING] * (len(other[i]) - len(side[i]) if i < len(other) else 0)
    between = " | " if nested else " "
    words = between.join([*map(item_in_words, side[i]), *lacking])
    if len(words) > WIDEST:
        words = between.join([*(item_in_words(item, FEW) for item in side[i]), *lacking])
    return cut(words, WIDEST) or "[]"


def item_in_words(item: object, most: int = 10**9) -> str:
    """A list as `3 4 1`, a longer one as `3 4 … 1`."""
    if not isinstance(item, list):
        return repr(item)
    words = [*map(repr, item)]
    return " ".join(words if len(words) <= most else [*words[: most - 1], CUT, words[-1]]) or "[]"


def cut(words: str, longest: int = LONGEST) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}{CUT}"


def within(function: str, rows: Sequence[int], calls: int, in_all: int) -> str:
    """What is wrong with how often a function was called, and with how many rows in all; nothing if both are fine."""
    if len(rows) > calls:
        return f"calls of {function}: should be at most {calls}, got {len(rows)}, of {listed(rows)} rows"
    if sum(rows) > in_all:
        return f"rows in all calls of {function}: should be at most {in_all}, got {sum(rows)}: {listed(rows, ' + ')}"
    return ""


def listed(rows: Sequence[int], comma: str = ", ") -> str:
    """The first few."""
    shown = [*map(str, rows[: BEFORE + AFTER])]
    return comma.join([*shown, CUT] if len(rows) > len(shown) else shown)

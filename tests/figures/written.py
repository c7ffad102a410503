"""Calculations that a text writes out, `(1.2 − 0.2) / √1.1 = 0.9535`, read from the text and done again.

One with letters in it is left alone, and so is one that Python cannot do.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graders.catalogue.texts import CODE_OR_FORMULA, FIGURE
from tests.figures.number import NUMBER, SUPERSCRIPTS, agrees

LETTER = "A-Za-zα-ωΑ-Ω"
RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
NAME = "log₂|log|ln|exp|cos"
PART = rf"""
    (?<![{LETTER}\d._])\d+(?:[ \u00a0]\d{{3}}(?!\d))*(?:\.\d+)?(?:e[-−]?\d+)?
    |(?<![{LETTER}])(?:{NAME}|e|π)(?![{LETTER}])|(?<=\d)[eπ](?![{LETTER}])
    |[½⅓⅔¼¾⅛{RAISED}·×/+()√^\s\0−-]
"""
LEFT = re.compile(rf"(?:{PART})+\Z", re.VERBOSE)
EQUALS = re.compile(r"[=≈]\s+")
OPERATION = re.compile(rf"[·×/+√^{RAISED}]|\s[−-]\s|{NAME}")
OPEN = re.compile(rf"[·×/+^{RAISED}]|[−-]\s")  # a beginning that lacks something before it
FACTOR = re.compile(rf"(?<![{LETTER}])(?!a)[{LETTER}]$|[^\s\w,.:;()!?\"”“>\]*`'=≈-]$")  # an end that may belong to it
GOES_ON = re.compile(rf"\0?\s*(?:[·×/^√+(]|[−-]\s|(?:{NAME})\b|(?!a )[{LETTER}](?![{LETTER}])|[{RAISED}])")
PYTHON: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(?<=\d)[ \u00a0](?=\d{3}(?!\d))", ""),
    (rf"[{RAISED}]+", lambda found: f"**({found[0].translate(SUPERSCRIPTS)})"),
    (r"[½⅓⅔¼¾⅛]", lambda found: f"({unicodedata.numeric(found[0])})"),
    *((re.escape(sign), name) for sign, name in zip("·×−^π√", ("*", "*", "-", "**", "pi", "sqrt"), strict=True)),
    (r"ln\b", "log"),
    (r"log₂", "lb"),
    (r"\b(log|lb|sqrt|exp)\s*(\d+(?:\.\d+)?(?:e-?\d+)?)", r"\1(\2)"),
    (r"(?<=[\d)])\s*(?=log|lb|sqrt|pi|exp|cos|\(|e(?![-\d]))", "*"),
)


@dataclass(frozen=True)
class Written:
    line: int
    calculation: str
    figure: re.Match[str]
    value: float
    has_comment: bool
    is_percent: bool

    @property
    def is_right(self) -> bool:
        """Where a comment gives the figure, what is written out may be calculated with rounded numbers."""
        values = (self.value, 100 * self.value) if self.is_percent else (self.value,)
        return any(agrees(self.figure, value, units=1.5 if self.has_comment else 0.5) for value in values)


def calculations(text: str) -> Iterator[Written]:
    plain = FIGURE.sub("\0", text)
    plain = CODE_OR_FORMULA.sub(lambda found: re.sub(r"[^\n]", "`", found[0]), plain)
    for equals in EQUALS.finditer(plain):
        figure, left = NUMBER.match(plain, equals.end()), LEFT.search(plain, 0, equals.start())
        calculation = left[0].replace("\0", "") if left else ""
        if figure and left and not GOES_ON.match(plain, figure.end()) and is_whole(plain[: left.start()], calculation):
            value = value_of(calculation)
            if value is not None:
                rest = plain[figure.end() : figure.end() + 3].lstrip()
                line = plain.count("\n", 0, figure.start()) + 1
                yield Written(line, " ".join(calculation.split()), figure, value, "\0" in rest, rest.startswith("%"))


def is_whole(before: str, calculation: str) -> bool:
    """Whether it is a calculation, and what stands before it no part of it."""
    if not OPERATION.search(calculation) or OPEN.match(calculation.lstrip()):
        return False
    if calculation[0].isspace():
        return not FACTOR.search(before)
    return not re.search(rf"[{LETTER}\d_)\]'‖|%\0`]$", before)


def value_of(calculation: str) -> float | None:
    for sign, meaning in PYTHON:
        calculation = re.sub(sign, meaning, calculation)
    try:
        return float(eval(" ".join(calculation.split()), {**vars(math), "lb": math.log2}))
    except (SyntaxError, TypeError, ValueError, ArithmeticError, NameError):
        return None

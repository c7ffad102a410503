"""The figures of a text that say themselves how they are calculated: `0.85<!-- = 85 / 100 -->`, without a blank."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from graders.catalogue.katas import Kata, load_module
from graders.catalogue.statement import CODE_OR_FORMULA, FIGURE
from graders.kata.spec import Draw
from tests.figures import texts_of
from tests.figures.asked import inputs_of

MEANT = re.compile(r"<!--\s*=.*?-->", re.DOTALL)  # also where the blanks are wrong, or a line ends in it
FAR = 400  # characters before a comment in which its figures are looked for
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(
    r"""(?<![\w.^])(?P<sign>[-−]?)(?:
        (?P<base>\d+)(?P<raised>⁻?[⁰¹²³⁴-⁹]+) |
        (?P<digits>\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)(?:\.(?P<decimals>\d+))?
        (?:e(?P<e>[-−]?\d+)|[ ]?·[ ]?10(?P<power>⁻?[⁰¹²³⁴-⁹]+)|/(?P<over>\d+))?
        |(?P<vulgar>[½⅓⅔¼¾⅛]) | (?P<name>∞|NaN))""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Beside:
    """One comment: its place, what stands before it, and the Python in it."""

    path: Path
    line: int
    before: str
    expression: str

    def fault(self, scope: dict[str, Any]) -> str:
        """What is wrong with it; empty where nothing is."""
        try:
            values = numbers_of(eval(self.expression, dict(scope)))
        except Exception as error:  # an author's slip, whatever it is
            return self.said(f"= {self.expression} raises {type(error).__name__}: {error}")
        written = list(NUMBER.finditer(self.before))[-len(values) :]
        if len(written) < len(values):
            return self.said(f"= {self.expression} makes {len(values)} numbers, before it stand {len(written)}")
        for one, value in zip(written, values, strict=True):
            if not agrees(one, value):
                return self.said(f"the text says {one[0]}, = {self.expression} is {value:.10g}")
        return ""

    def said(self, words: str) -> str:
        return f"{self.path}:{self.line}: {words}"


def agrees(written: re.Match[str], value: float) -> bool:
    """Whether the value is what is written, rounded to the digits that are written."""
    number, unit = read_number(written)
    if math.isnan(number) or math.isinf(number):
        return number == value or (math.isnan(number) and math.isnan(value))
    return abs(value - number) <= unit * (0.5 + 1e-6)


def read_number(found: re.Match[str]) -> tuple[float, float]:
    """The number and the weight of its last digit; of a fraction, which is exact, nearly none."""
    sign = -1 if found["sign"] else 1
    if found["name"]:
        return sign * (math.inf if found["name"] == "∞" else math.nan), 0
    if found["vulgar"]:
        return sign * unicodedata.numeric(found["vulgar"]), 1e-6
    if found["raised"]:
        raised = float(int(found["base"])) ** int(found["raised"].translate(SUPERSCRIPTS))
        return sign * raised, raised if found["base"] == "10" else 1e-6
    digits = re.sub(r"\D", "", found["digits"])
    if found["over"]:
        return float(sign * Fraction(int(digits), int(found["over"]))), 1e-6
    decimals = found["decimals"] or ""
    power = int((found["e"] or (found["power"] or "0").translate(SUPERSCRIPTS)).replace("−", "-"))
    unit = 10.0 ** (power - len(decimals))
    return sign * int(digits + decimals) * unit, unit


def numbers_of(value: Any) -> list[float]:
    """The numbers of a value, nested as it may be."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [number for part in value for number in numbers_of(part)]
    return [float(value)]


def scope_of(kata: Kata) -> dict[str, Any]:
    """The names that an expression may use."""
    reference = vars(load_module(kata.reference_file, f"{kata.id}_of_the_figures"))
    return {
        **vars(math),
        **{name: value for name, value in reference.items() if not name.startswith("_")},
        "math": math,
        "torch": torch,
        "nn": nn,
        "F": nn.functional,
        "asked": lambda case: inputs_of(kata.id)[case],
    }


def figures(path: Path, text: str) -> Iterator[Beside]:
    for found in FIGURE.finditer(text):
        before = FIGURE.sub("", text[: found.start()])[-FAR:]
        yield Beside(path, text.count("\n", 0, found.start()) + 1, before, found[1])


def misplaced(path: Path, text: str) -> Iterator[str]:
    """Comments that would not be calculated, or whose place would be seen."""
    code = [(found.start(), found.end()) for found in CODE_OR_FORMULA.finditer(text)]
    for found in MEANT.finditer(text):
        place = f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]}"
        if not FIGURE.fullmatch(found[0]) or "--" in found[0][4:-3]:
            yield f"{place} should be <!-- = EXPRESSION --> on one line, without --"
        if text[found.start() - 1].isspace():
            yield f"{place} should follow its figure without a blank"
        if any(start < found.start() < end for start, end in code):
            yield f"{place} would be seen: it stands in code or a formula"


def faults(kata: Kata) -> list[str]:
    """All that is wrong with the figures of a kata's texts."""
    scope = scope_of(kata)
    found: list[str] = []
    for path in texts_of(kata):
        text, short = path.read_text(encoding="utf-8"), path.relative_to(kata.root)
        found += misplaced(short, text)
        found += filter(None, (one.fault({**scope, "draw": Draw(kata.id)}) for one in figures(short, text)))
    return found

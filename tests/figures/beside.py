"""The figures of a text that say themselves how they are calculated: `0.85<!-- = 85 / 100 -->`, without a blank."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from graders.catalogue.katas import Kata, load_module
from graders.catalogue.texts import CODE_OR_FORMULA, FIGURE
from graders.kata.draw import Draw
from tests.figures import texts_of
from tests.figures.asked import inputs_of
from tests.figures.number import NUMBER, agrees
from tests.figures.written import calculations

MEANT = re.compile(r"<!--\s*=.*?-->", re.DOTALL)  # also where the blanks are wrong, or a line ends in it
FAR = 400  # characters before a comment in which its figures are looked for


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
            values = values_of(eval(self.expression, dict(scope)))
        except Exception as error:  # an author's slip, whatever it is
            return self.said(f"= {self.expression} raises {type(error).__name__}: {error}")
        if False in [value for value in values if isinstance(value, bool)]:
            return self.said(f"= {self.expression} is false")
        values = [value for value in values if not isinstance(value, bool)]
        written = list(NUMBER.finditer(self.before))[-len(values) :] if values else []
        if len(written) < len(values):
            return self.said(f"= {self.expression} makes {len(values)} numbers, before it stand {len(written)}")
        for one, value in zip(written, values, strict=True):
            if not agrees(one, value):
                return self.said(f"the text says {one[0]}, = {self.expression} is {value:.10g}")
        return ""

    def said(self, words: str) -> str:
        return f"{self.path}:{self.line}: {words}"


def values_of(value: Any) -> list[float | bool]:
    """Its numbers and truth values, nested as they may be."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [one for part in value for one in values_of(part)]
    return [value if isinstance(value, bool) else float(value)]


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


def miscalculated(path: Path, text: str) -> Iterator[str]:
    for one in calculations(text):
        if not one.is_right:
            yield f"{path}:{one.line}: the text says {one.figure[0]}, {one.calculation} is {one.value:.10g}"


def faults(kata: Kata) -> list[str]:
    """All that is wrong with the figures of a kata's texts."""
    scope = scope_of(kata)
    found: list[str] = []
    for path in texts_of(kata):
        text, short = path.read_text(encoding="utf-8"), path.relative_to(kata.root)
        found += [*misplaced(short, text), *miscalculated(short, text)]
        found += filter(None, (one.fault({**scope, "draw": Draw(kata.id)}) for one in figures(short, text)))
    return found

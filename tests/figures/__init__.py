"""The figures of the statements, hints, interviews and follow-up questions, calculated again.

Most stand beside their own calculation (beside.py). A file for each kata holds what needs several statements.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import Kata, load_module
from graders.catalogue.texts import FIGURE
from graders.faults import ROOT


def texts_of(kata: Kata) -> list[Path]:
    return sorted([*kata.folder.glob("*.md"), *kata.solutions.glob("*.md")])


def said(kata_id: str, *figures: str) -> bool:
    """Whether a text of the kata says each of the figures, on one line or across two."""
    (kata,) = katas.find([kata_id], ROOT)
    words = " ".join(" ".join(FIGURE.sub("", path.read_text(encoding="utf-8")).split()) for path in texts_of(kata))
    missing = [figure for figure in figures if figure not in words]
    for figure in missing:
        alike = SequenceMatcher(None, words, figure, autojunk=False).find_longest_match()
        start = max(alike.a - alike.b, 0)
        print(f"no text says   {figure}\nthe nearest is {words[start : start + len(figure) + 20]}")
    return not missing


def reference_of(kata_id: str) -> ModuleType:
    (kata,) = katas.find([kata_id], ROOT)
    return load_module(kata.reference_file, f"{kata_id}_of_the_figures")


def normal(*shape: int) -> Tensor:
    """The same values at every call, in float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

"""The figures of the statements, hints and follow-up questions, calculated again: a file for each kata."""

from __future__ import annotations

from graders.catalogue import katas
from graders.faults import ROOT


def said(kata_id: str, *figures: str) -> bool:
    """Whether a text of the kata says each of the figures, on one line or across two."""
    (kata,) = katas.find([kata_id], ROOT)
    texts = sorted([*kata.folder.glob("*.md"), *kata.solutions.glob("*.md")])
    words = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in texts)
    return all(figure in words for figure in figures)

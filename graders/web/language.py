"""What an editor knows of Python: torch's names, and where a text is no Python."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass

import torch

from graders.catalogue.katas import Kata
from graders.faults import GraderError

LONGEST = 50_000  # characters, which take up to 0.3 s; all pages wait meanwhile
NAMESPACES = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "Tensor": torch.Tensor}


def names(kata: Kata) -> dict[str, list[str]]:
    """Those to complete, by where they are; not what the kata forbids."""
    banned: tuple[str, ...] = ()
    with contextlib.suppress(GraderError):  # said on Run
        banned = kata.grader.banned
    return {
        where: [name for name in dir(found) if not name.startswith("_") and not name.startswith(banned)]
        for where, found in NAMESPACES.items()
    }


@dataclass(frozen=True)
class Misspelt:
    """Where Python stops to understand a text: characters from the text's beginning, and why."""

    begin: int
    end: int
    words: str


def misspelt(text: str) -> Misspelt | None:
    """None also where the text is too long to be looked at."""
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "answer", "exec", dont_inherit=True)
    except SyntaxError as error:
        lines = text.splitlines(keepends=True) or [""]
        number = min(max(error.lineno or 1, 1), len(lines))
        before = sum(map(len, lines[: number - 1]))
        line = lines[number - 1].rstrip("\r\n")
        begin = min(max((error.offset or 1) - 1, 0), max(len(line) - 1, 0))
        one_line = error.end_lineno == error.lineno and (error.end_offset or 0) > begin + 1
        end = min((error.end_offset or 0) - 1, len(line)) if one_line else len(line)
        return Misspelt(before + begin, before + max(end, begin + 1), f"line {number}: {error.msg}")
    except (ValueError, RecursionError, MemoryError):  # nothing that a line could be blamed for
        pass
    return None

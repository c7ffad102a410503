"""A file of a kata whose places can be named, as `katas/…/README.md:12`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graders.catalogue.katas import Kata

NAMES = re.compile(r"<!-- (?!=|also:|kind:)(.*?) -->", re.DOTALL)  # behind a fact: the checks that it is held by


@dataclass(frozen=True)
class Page:
    """The text of a file, and how a reader is sent to a place in it."""

    shown: str
    text: str

    @classmethod
    def of(cls, kata: Kata, path: Path) -> Page:
        """Raises: FileNotFoundError."""
        return cls(path.relative_to(kata.root).as_posix(), path.read_text(encoding="utf-8"))

    def at(self, place: int | str = 0) -> str:
        """The file and the line, of an offset or of the first place where these words stand; no line without them."""
        offset = self.text.find(place) if isinstance(place, str) else place
        return self.line(self.text.count("\n", 0, offset) + 1) if offset >= 0 else self.shown

    def line(self, number: int) -> str:
        return f"{self.shown}:{number}"

    def between(self, start: str, end: str) -> Page:
        """What stands between these words, at the lines where it stands; all else is blank."""
        before, found, after = self.text.partition(start)
        return Page(self.shown, "\n" * (before + found).count("\n") + after.partition(end)[0])

    def named(self) -> dict[str, str]:
        """The checks that its comments name -> the first place where one does."""
        found: dict[str, str] = {}
        for comment in NAMES.finditer(self.text):
            for name in re.finditer(r"\S+", comment[1]):
                found.setdefault(name[0], self.at(comment.start(1) + name.start()))
        return found

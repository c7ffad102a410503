"""A file as a page has it: what stands on the disk is the truth, and where both have changed, both are kept."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import ClassVar

from graders.catalogue.source import LONGEST_SOURCE, too_large
from graders.desk import attempts
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile
from graders.faults import UsageError
from graders.judge.run import source_of


class Sheet:
    """One of the learner's files. No other can be written through a page.

    `base` is what page and disk last had in common, `disk` what other editors have made of it since.
    `written` is what pages have saved last, by file.
    """

    written: ClassVar[dict[Path, str]] = {}

    def __init__(self, file: AnswerFile) -> None:
        self.file = file
        self.version: tuple[int, int, int] | None = None
        self.trouble = ""  # why the file cannot be read
        self.disk = ""
        self.look(again=True)
        self.base = self.disk

    def look(self, again: bool = False) -> None:
        """Reads the file where it has changed."""
        version = None
        with contextlib.suppress(OSError):
            found = self.file.path.lstat()
            version = found.st_mtime_ns, found.st_size, found.st_ino
        if version == self.version and not again:
            return
        self.version = version
        source = source_of(self.file.kata, self.file.path)
        self.trouble = f"{source.shown} {source.unreadable}" if source.unreadable else ""
        if not source.unreadable:
            self.disk = source.text

    def met(self, text: str) -> bool:
        """Whether the page has what is on the disk, or may write it there. `text` is what the page shows."""
        if self.disk == text:
            self.base = text
        return self.disk == self.base

    def both_changed(self, text: str) -> bool:
        return not self.met(text) and text != self.base

    def save(self, text: str) -> bool:
        """Whether the file is now what the page shows. Raises: UsageError."""
        self.look()
        if not self.met(text) or (self.trouble and self.file.path.exists()):
            return False
        if text != self.disk or (self.trouble and text):
            if (size := len(text.encode())) > LONGEST_SOURCE:  # it could never be read again
                raise UsageError(
                    f"{self.file.path.name} {too_large(size)}; shorten it: what you type is kept in this page alone"
                )
            attempts.write(self.file.path, text, "mend that; what you type is kept in this page")
            self.disk = self.base = text
            self.look(again=True)
        self.written[self.file.path] = text
        return True

    def keep_mine(self, state: State, text: str) -> bool:
        """What the other editor wrote stays in the history. Whether the page's text is saved. Raises: UsageError."""
        attempts.keep(state, self.file.kata, self.disk)
        self.base = self.disk
        return self.save(text)

"""What can go wrong, and how a command ends then: the ground floor, which all other rooms stand on."""

from __future__ import annotations

import sys
from pathlib import Path

VERSION = "0.2.0"  # as in pyproject.toml; CHANGELOG.md says what it means
ROOT = Path(__file__).resolve().parent.parent  # of the repository; this file is the only one that may know its depth
PACK = "KATAS_PACK"  # in the environment: the folder whose katas take the place of the repository's
USAGE, FAULT, INTERRUPTED = 2, 3, 130  # exit statuses, beside 0 and 1


class UsageError(Exception):
    """What the user asked for cannot be done; the message says why and what to do."""


class GraderError(Exception):
    """A grader that could not grade: the author's fault, never the learner's."""


class CheckFailed(Exception):
    """The submission did not pass; the message says why in one sentence.

    `kind` is the state that the check ends in: "fail", "error" (it could not be asked) or "timeout".
    """

    def __init__(self, message: str, kind: str = "fail") -> None:
        super().__init__(message)
        self.kind = kind


class NotAsked(CheckFailed):
    """The check could not be asked, since a call did not return; it fails itself if no other check has told of that."""


class GivenUp(CheckFailed):
    """The call was not made, since those before it took too much; that says nothing about the call."""


def complain(sentence: str) -> int:
    """Tells the user on standard error; returns the exit status USAGE."""
    print(f"error: {sentence}", file=sys.stderr)
    return USAGE

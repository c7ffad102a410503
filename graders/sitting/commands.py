"""What can be typed in a sitting: commands, and what is said of a line that is none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

LONGEST_NUMBER = 9  # digits
YES_OR_NO = ("yes", "y", "no", "n")
S = TypeVar("S")


class Suspended(Exception):
    """Somebody wants to go on later."""


@dataclass(frozen=True)
class Command(Generic[S]):
    """Something to type.

    Args:
        usage: the command, and what it takes.
        does: what it does, for `help`.
        phases: where it can be typed.
        act: does it, given what stood behind it.
        takes: what that should look like; a line in which it does not is no command.
    """

    usage: str
    does: str
    phases: tuple[str, ...]
    act: Callable[[S, str], None]
    takes: Literal["nothing", "number", "word", "words"] = "nothing"

    @property
    def name(self) -> str:
        return self.usage.split()[0]

    def fits(self, argument: str) -> bool:
        words = argument.split()
        return {
            "nothing": not words,
            "number": not words or (argument.isdecimal() and len(argument) < LONGEST_NUMBER),
            "word": len(words) <= 1,
            "words": True,
        }[self.takes]


def at(phase: str, commands: Iterable[Command[S]]) -> list[Command[S]]:
    """Those that can be typed there."""
    return [command for command in commands if phase in command.phases]


def is_answer(line: str) -> bool:
    """To what was asked back: yes or no, or the number of what was meant."""
    return line.strip().lower() in YES_OR_NO or line.strip().isdecimal()


def nearest(line: str, names: Iterable[str]) -> str:
    """The command that a line may have been meant to be."""
    return next(iter(difflib.get_close_matches(line.strip().lower(), [*names], n=1, cutoff=0.7)), "")


def unknown(line: str, near: str) -> str:
    hint = f"did you mean {near}?" if near else "`help` lists what you can type"
    return f"there is no command {line.split()[0]!r} here; {hint}"

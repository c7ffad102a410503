"""What can be typed in a sitting: commands, and what is said of a line that is none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from graders.faults import UsageError
from graders.sitting.interrupts import Stopped
from graders.sitting.terminal import Terminal

Say = Callable[[str], None]
LONGEST_NUMBER = 9  # digits
YES_OR_NO = ("yes", "y", "no", "n")
S = TypeVar("S")


class Suspended(Exception):
    """Somebody wants to go on later."""


def suspend(sat: object, argument: str) -> None:
    """A command of every sitting."""
    raise Suspended


@dataclass(frozen=True)
class Command(Generic[S]):
    """Something to type.

    Args:
        usage: the command, and what it takes.
        does: what it does, for `help`.
        act: does it, given what stood behind it.
        takes: what that should look like; a line in which it does not is no command.
        phases: where it can be typed; anywhere if there are none.
    """

    usage: str
    does: str
    act: Callable[[S, str], None]
    takes: Literal["nothing", "number", "word", "words"] = "nothing"
    phases: tuple[str, ...] = ()

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


TIME: Command[Any] = Command("time", "how much time has passed, and how much is left", lambda sat, _: sat.tell_time())
QUIT: Command[Any] = Command("quit", "go on another time, with --resume; the clock runs on", suspend)


def obey(sat: S, line: str, table: Sequence[Command[S]], here: Sequence[Command[S]], say: Say) -> bool:
    """Does the command of the table that a line is, if it can be typed here; whether it is one, or empty."""
    word, _, rest = line.strip().partition(" ")
    command = next((one for one in table if one.name == word.lower() and one.fits(rest.strip())), None)
    if command and command in here:
        command.act(sat, rest.strip())
    elif command:
        on = next(one.name for one in here if one.name in ("next", "skip"))
        say(f"{command.name} is for {' and '.join(command.phases)}; type `{on}` to go on")
    return command is not None or not line.strip()


def until(
    over: Callable[[], bool], step: Callable[[], None], say: Say, failed: Callable[[], None] = lambda: None
) -> None:
    """One step after the other; what goes wrong in one is said, and the next one follows."""
    while not over():
        try:
            step()
        except Stopped as stopped:
            say(str(stopped))
        except UsageError as error:
            say(f"error: {error}")
            failed()


def tell(terminal: Terminal, here: Iterable[Command[S]], more: Mapping[str, str]) -> None:
    """The list that `help` shows, and what else can be said."""
    terminal.rows([*((one.usage, one.does) for one in here), *more.items()])


def is_answer(line: str) -> bool:
    """To what was asked back: yes or no, or the number of what was meant."""
    return line.strip().lower() in YES_OR_NO or line.strip().isdecimal()


def nearest(line: str, names: Iterable[str]) -> str:
    """The command that a line may have been meant to be."""
    return next(iter(difflib.get_close_matches(line.strip().lower(), [*names], n=1, cutoff=0.7)), "")


def unknown(line: str, near: str) -> str:
    hint = f"did you mean {near}?" if near else "`help` lists what you can type"
    return f"there is no command {line.split()[0]!r} here; {hint}"

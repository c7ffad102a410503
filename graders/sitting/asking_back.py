"""Words that are not understood for sure: what they may mean is offered, and a number picks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAYBE = 0.1  # the score of a prepared text from which on it is worth asking back


class Match(NamedTuple):
    """What was understood.

    Args:
        meant: the number of the prepared text, from 0; None where that is not sure.
        maybe: those that it may be, the likelier first; none where it is none of them.
        clear: the first of these has a clear lead.
    """

    meant: int | None
    maybe: tuple[int, ...]
    clear: bool = False

    @property
    def taken(self) -> int | None:
        """What is meant, at least until somebody says no."""
        return self.maybe[0] if self.clear else self.meant


@dataclass(frozen=True)
class Offer:
    """What may be meant, by numbers of their own, and what to do with the one that is.

    Where the likeliest was answered already, `take_back` undoes that.
    """

    numbers: Sequence[int]
    take: Callable[[int], None]
    take_back: Callable[[], None] | None = None


def introduction(offer: Offer, verb: str) -> str:
    """What is said before they are listed, from 1; something may have been taken for meant already."""
    count = len(offer.numbers)
    if offer.take_back:
        return "`no` takes that back" + (", and so does the number of what you meant:" if count else ".")
    how = "this? Type `yes`" if count == 1 else "one of these? Type its number"
    return f"I am not sure what you {verb}. Do you mean {how}, or put it another way."


def answered(offer: Offer | None, line: str, say: Callable[[str], None]) -> bool:
    """Takes yes, no or a number; whether that settles what is offered."""
    if offer is None:
        say("there is no question open; `help` lists what you can type")
        return False
    said, count = line.strip().lower(), len(offer.numbers)
    chosen = said.isdecimal() and 1 <= int(said) <= count
    if offer.take_back and (chosen or said.startswith("n")):
        offer.take_back()
    if said.startswith("n"):
        say("Then put it another way, or go on.")
    elif chosen:
        offer.take(offer.numbers[int(said) - 1])
    elif offer.take_back and not said.isdecimal():
        say("Good.")
    elif said.isdecimal() or count != 1:
        say(f"Which of them? Type a number from 1 to {count}, or put it another way.")
        return False
    else:
        offer.take(offer.numbers[0])
    return True

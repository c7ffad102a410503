"""Words that are not understood for sure: what they may mean is offered, and a number picks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAYBE = 0.1  # the score of a prepared text from which on it is worth asking back
PREAMBLE = "I am not sure what you {verb}. Do you mean {how}, or put it another way."


@dataclass(frozen=True)
class Offer:
    """What may be meant, by numbers of their own, and what to do with the one that is."""

    numbers: Sequence[int]
    take: Callable[[int], None]


def preamble(count: int, verb: str) -> str:
    """What is said before they are listed, from 1."""
    return PREAMBLE.format(verb=verb, how="this? Type `yes`" if count == 1 else "one of these? Type its number")


def answered(offer: Offer, said: str, say: Callable[[str], None]) -> bool:
    """Takes yes, no or a number; whether that settles it."""
    count = len(offer.numbers)
    if said.startswith("n"):
        say("Then put it another way, or go on.")
    elif said.isdecimal() and 1 <= int(said) <= count:
        offer.take(offer.numbers[int(said) - 1])
    elif said.isdecimal() or count > 1:
        say(f"Which of them? Type a number from 1 to {count}, or put it another way.")
        return False
    else:
        offer.take(offer.numbers[0])
    return True

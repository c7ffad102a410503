"""What ranks sent each other, as a sequence diagram: a line down for each rank, an arrow for each message."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

LINE = re.compile(r"step ([\d,]+): rank (\d+)(?: → (\d+)|: (\w+)), (.*)")
LEFT, BETWEEN, ROW, TOP, WORDS = 60, 72, 24, 34, 300  # pixels


class Message(NamedTuple):
    """From a rank to another one, or a collective that it takes part in: then `to` is None."""

    step: str
    rank: int
    to: int | None
    words: str


@dataclass
class Sequence:
    """Messages in the order of their steps, and the lines that are none."""

    messages: list[Message] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return 1 + max(max(one.rank, one.to or 0) for one in self.messages)

    @property
    def width(self) -> int:
        return self.right + WORDS

    @property
    def height(self) -> int:
        return TOP + ROW * len(self.messages)

    @property
    def right(self) -> int:
        """Where the words begin."""
        return self.at(self.ranks - 1) + BETWEEN // 2

    def at(self, rank: int) -> int:
        return LEFT + BETWEEN // 2 + BETWEEN * rank

    def row(self, place: int) -> int:
        return TOP + ROW * place + ROW // 2


def sequence_of(text: str) -> Sequence:
    """Of a card's row: see message_in in sandbox/messages.py."""
    made = Sequence()
    for line in text.splitlines():
        if found := LINE.fullmatch(line):
            step, rank, to, collective, words = found.groups()
            said = f"{collective}, {words}" if collective else words
            made.messages.append(Message(step, int(rank), None if to is None else int(to), said))
        else:
            made.rest.append(line)
    return made

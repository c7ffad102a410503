"""Which katas and questions an interview is about: a seed decides it, and a seed is found that suits the learner."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import mean
from typing import NamedTuple

from graders.catalogue.katas import LEVELS, Kata
from graders.catalogue.texts import Question
from graders.desk.progress import Progress
from graders.faults import UsageError

MOST_KATAS = 3
FOLLOW_UPS = (3, 5)
LONG = 60  # minutes, in which there is time for a hard one and another
CHAINED = 0.7  # how often a kata is looked for that another one is the twist of
SHARE = 0.6  # of a kata's minutes, where one's own code is there to start from
STEP = 5  # minutes, to which a share is rounded up
SEEDS = 10_000
TRIED = 200
NEVER_SOLVED, DUE, WEAK, KNOWN = 4.0, 6.0, 1.0, 0.25


class Part(NamedTuple):
    """A kata of an interview, how long it should take, and which one before it has it for its changed requirement."""

    kata: Kata
    minutes: int
    after: str = ""


class Draw:
    """Draws one part after the other from katas in an order, as long as there is time for those that must come."""

    def __init__(self, katas: Sequence[Kata], minutes: int, twists: Mapping[str, str], count: int | None) -> None:
        self.katas = {kata.id: kata for kata in katas}
        self.minutes = minutes
        self.twists = twists
        self.count = count
        self.drawn: list[list[Part]] = []

    @property
    def parts(self) -> list[Part]:
        return [part for chain in self.drawn for part in chain]

    def fits(self, *parts: Part) -> bool:
        """Whether there is time for these, and for as many short katas as were asked for besides."""
        taken = [*self.parts, *parts]
        names = {part.kata.id for part in taken}
        wanted = self.count - len(taken) if self.count else 0
        rest = sorted(kata.about.minutes for kata in self.katas.values() if kata.id not in names)
        if len(names) < len(taken) or len(taken) > (self.count or MOST_KATAS) or len(rest) < wanted:
            return False
        return sum(part.minutes for part in taken) + sum(rest[:wanted]) <= self.minutes

    def twist_of(self, kata: Kata) -> Part | None:
        """The kata that its changed requirement is, if it is among them."""
        found = self.katas.get(self.twists.get(kata.id, ""))
        return Part(found, STEP * math.ceil(SHARE * found.about.minutes / STEP), kata.id) if found else None

    def starts_a_chain(self, kata: Kata) -> bool:
        twist = self.twist_of(kata)
        return twist is not None and self.fits(Part(kata, kata.about.minutes), twist)

    def take(self, kata: Kata) -> None:
        """If it fits; and then what it turns into."""
        chain: list[Part] = []
        part: Part | None = Part(kata, kata.about.minutes)
        while part and self.fits(*chain, part):
            chain.append(part)
            part = self.twist_of(part.kata)
        self.drawn += [chain] * bool(chain)


def draw(
    katas: Sequence[Kata], minutes: int, seed: int, twists: Mapping[str, str] | None = None, count: int | None = None
) -> list[Part]:
    """One to three that fit into the time, or as many as `count`, the easier first; in a long interview a hard one.

    `twists` names for some katas the kata that an interviewer turns them into: that one comes next where there is time,
    and such a pair is preferred. It depends on nothing else, so that a seed means the same interview for everybody.

    Raises: UsageError where not enough fit.
    """
    chance, made = random.Random(seed), Draw(katas, minutes, twists or {}, count)
    order = chance.sample(katas, len(katas))
    chain = [kata for kata in order if made.starts_a_chain(kata)][:1] if chance.random() < CHAINED else []
    hard = [kata for kata in order if minutes >= LONG and kata.about.level == LEVELS[-1]][:1]
    for kata in dict.fromkeys([*chain, *hard, *order]):
        made.take(kata)
    if len(made.parts) < (count or 1):
        raise UsageError(too_short(sorted(kata.about.minutes for kata in katas), minutes, count or 1))
    return [part for chain in sorted(made.drawn, key=lambda chain: chain[0].minutes) for part in chain]


def too_short(lengths: Sequence[int], minutes: int, count: int) -> str:
    """Why so many cannot be drawn."""
    least = sum(lengths[:count])
    if len(lengths) < count:
        there = "is 1 kata" if len(lengths) == 1 else f"are {len(lengths)} katas"
        return f"there {there} to draw {count} from; ask for fewer with --katas"
    if count == 1:
        return f"no kata fits into {minutes} minutes; the shortest takes {least}: --minutes {least}"
    return f"{count} katas do not fit into {minutes} minutes; the shortest take {least}: --minutes {least}"


def suiting_seed(
    katas: Sequence[Kata],
    minutes: int,
    progress: Mapping[str, Progress],
    at: datetime,
    chance: random.Random,
    twists: Mapping[str, str] | None = None,
    count: int | None = None,
) -> int:
    """One by which what is weak, due or new is likely to be drawn."""
    seeds = [chance.randrange(SEEDS) for _ in range(TRIED)]
    drawn = [draw(katas, minutes, seed, twists, count) for seed in seeds]
    needs = [mean(need(progress[part.kata.id], at) for part in parts) for parts in drawn]
    return chance.choices(seeds, [one**2 for one in needs])[0]


def need(one: Progress, at: datetime) -> float:
    """How much a learner needs to practise a kata."""
    found = KNOWN
    if one.due is not None and one.due <= at:
        found = DUE
    elif not one.solved:
        found = NEVER_SOLVED
    lost = 1 - one.best / 100 if one.attempts else 0.0
    return found + WEAK * (min(one.failures, 3) + one.hints + 3 * lost) / 3


def follow_ups(questions: Sequence[Question], seed: int, kata: str) -> list[Question]:
    """Three to five of them, in an order of their own."""
    chance = random.Random(f"{seed}/{kata}")
    count = min(chance.randint(*FOLLOW_UPS), len(questions))
    return chance.sample(questions, count)

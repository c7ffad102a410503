"""Which katas and questions an interview is about: a seed decides it, and a seed is found that suits the learner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from statistics import mean

from graders.catalogue.katas import LEVELS, Kata
from graders.catalogue.texts import Question
from graders.desk.progress import Progress
from graders.faults import UsageError

MOST_KATAS = 3
FOLLOW_UPS = (3, 5)
LONG = 60  # minutes, in which there is time for a hard one and another
SEEDS = 10_000
TRIED = 200
NEVER_SOLVED, DUE, WEAK, KNOWN = 4.0, 6.0, 1.0, 0.25


def draw(katas: Sequence[Kata], minutes: int, seed: int) -> list[Kata]:
    """One to three that fit into the time, the easier first; in a long interview one is of the hardest level.

    It depends on nothing but these, so that a seed means the same interview for everybody.

    Raises: UsageError where none fits.
    """
    order = random.Random(seed).sample(katas, len(katas))
    if minutes >= LONG:
        order.insert(0, next((kata for kata in order if kata.about.level == LEVELS[-1]), order[0]))
    drawn: list[Kata] = []
    for kata in dict.fromkeys(order):
        if len(drawn) < MOST_KATAS and kata.about.minutes + sum(one.about.minutes for one in drawn) <= minutes:
            drawn.append(kata)
    length = attrgetter("about.minutes")
    if not drawn:
        least = min(map(length, katas))
        raise UsageError(f"no kata fits into {minutes} minutes; the shortest takes {least}: --minutes {least}")
    return sorted(drawn, key=length)


def suiting_seed(
    katas: Sequence[Kata], minutes: int, progress: Mapping[str, Progress], at: datetime, chance: random.Random
) -> int:
    """One by which what is weak, due or new is likely to be drawn."""
    seeds = [chance.randrange(SEEDS) for _ in range(TRIED)]
    needs = [mean(need(progress[kata.id], at) for kata in draw(katas, minutes, seed)) for seed in seeds]
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

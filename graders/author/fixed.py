"""What a grader draws from no seed: sizes and numbers that are equal at every seed, so that a table could know them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from graders.catalogue.katas import Kata
from graders.judge.vectors import TestVectors
from graders.kata.spec import Answer

SEEDS = range(10)
Seen = dict[str, set[Any]]  # what is asked, by what it is called: the lengths of an axis, or the values of a number
MOST = 8  # values that are shown


def fixed(kata: Kata) -> tuple[dict[str, str], list[str]]:
    """What is equal at every seed, as it is named in FIXED, with its values; and the answers of which that is all.

    Cases alone are looked at, since what raises may be wrong in one way only, and budgets say their sizes.
    """
    found: dict[str, set[str]] = defaultdict(set)
    varying = set[str]()
    alone: list[str] = []
    for answer in kata.grader.answers:
        at_each = [seen(TestVectors(kata.id, kata.grader, seed), answer) for seed in SEEDS]
        names = dict.fromkeys(name for one in at_each for name in one)
        same = [name for name in names if all(one.get(name) == at_each[0].get(name) for one in at_each)]
        varying |= names.keys() - set(same)
        alone += [answer.name] * (len(same) == len(names) > 0)
        for name in same:
            found[name] |= {str(value) for value in at_each[0][name]}
    return {name: shown(values) for name, values in found.items() if name not in varying}, alone


def seen(vectors: TestVectors, answer: Answer) -> Seen:
    """Of all cases of an answer that should return."""
    found: Seen = defaultdict(set)
    for case in answer.cases:
        for given in vectors.arguments(case) if not case.raises else ():
            for name, value in {**vectors.constructed(case), **given}.items():
                for what, one in sizes_of(name, value):
                    found[what].add(one)
    return found


def sizes_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The lengths of its axes, or the number itself. A word is an option, and an option has few values by nature."""
    if isinstance(value, Tensor):
        yield from ((f"axis {axis} of {name}", length) for axis, length in enumerate(value.shape))
    elif isinstance(value, str):
        if not value.isidentifier():
            yield f"length of {name}", len(value)
    elif isinstance(value, list | tuple):
        yield f"length of {name}", len(value)
        yield from ((name, one) for one in value if isinstance(one, int | float))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def shown(values: set[str]) -> str:
    ordered = sorted(values, key=lambda text: (len(text), text))
    return ", ".join(ordered[:MOST]) + f" and {len(ordered) - MOST} more" * (len(ordered) > MOST)

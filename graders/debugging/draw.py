"""Which kata a debug round is about, and which bugs are planted in it: those that a seed decides and that show."""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from graders.catalogue.bugs import Bug, are_apart, bugs_of, places, planted, right_file
from graders.catalogue.katas import Kata
from graders.catalogue.programs import Output, Program
from graders.desk.debugged import PlantedBug, Practice
from graders.desk.progress import Progress
from graders.faults import UsageError
from graders.judge.planting import Planting

SAMPLED = 400  # sets of bugs, of which those that change the same lines are left out
MEASURED = 12  # of the others, before another kata is tried


class Drawn(NamedTuple):
    """A kata, and the bugs that are planted in it, by the lines of the file."""

    planting: Planting
    bugs: list[Bug]
    alone: Mapping[str, str] = {}  # by bug, the symptom of a program that has no other


def suiting(
    katas: Sequence[Kata], progress: Mapping[str, Progress], practices: Mapping[str, Practice], at: datetime
) -> list[Kata]:
    """What is due for a debug round, else what was begun, else what is of level 1, else all of it."""
    due = [kata for kata in katas if (one := practices.get(kata.id)) and one.due and one.due <= at]
    known = [kata for kata in katas if progress[kata.id].attempts]
    return due or known or [kata for kata in katas if kata.about.level == 1] or list(katas)


def draw(katas: Sequence[Kata], count: int, seed: int, slow: bool, plant: Callable[[Kata], Planting]) -> Drawn:
    """The kata by the seed alone, and its bugs by seed and kata, so that a kata and a seed mean the same bugs.

    Raises: UsageError where no set of so many is a good one.
    """
    for kata in random.Random(seed).sample(katas, len(katas)):
        found = bugs_of(kata, slow)
        if len(found) < count:
            continue
        chance = random.Random(f"{seed}/{kata.id}")
        samples = [chance.sample(found, count) for _ in range(SAMPLED)]
        apart = list({frozenset(bug.name for bug in some): some for some in samples if are_apart(some)}.values())
        if apart:
            planting = plant(kata)
            for some in apart[:MEASURED]:
                if planting.is_good(some):
                    return Drawn(planting, sorted(some, key=lambda bug: bug.changes[0].first))
    raise UsageError(lacking(katas, count, slow))


def draw_several(
    katas: Sequence[Kata], files: int, count: int, seed: int, slow: bool, plant: Callable[[Kata], Planting]
) -> list[Drawn]:
    """So many files, whose bugs are `count` together: in all of the katas, or in some by the seed.

    Raises: UsageError where these have no good ones.
    """
    if files == 1:
        return [draw(katas, count, seed, slow, plant)]
    some = [*katas] if files == len(katas) else random.Random(seed).sample(katas, len(katas))
    for first in range(len(some) - files):
        with contextlib.suppress(UsageError):
            return draw_in_each(some[first : first + files], count, seed, slow, plant)
    return draw_in_each(some[-files:], count, seed, slow, plant)


def draw_in_each(
    katas: Sequence[Kata], count: int, seed: int, slow: bool, plant: Callable[[Kata], Planting]
) -> list[Drawn]:
    """Equal shares; which files have one bug more is by chance, whatever their order."""
    by_chance = sorted(katas, key=lambda kata: random.Random(f"{seed}/{kata.id}/share").random())
    files = len(katas)
    shares = {kata.id: count // files + (place < count % files) for place, kata in enumerate(by_chance)}
    return [draw([kata], shares[kata.id], seed, slow, plant) for kata in katas]


def draw_program(
    program: Program,
    count: int | None,
    seed: int,
    plant: Callable[[Kata], Planting],
    run: Callable[[Mapping[str, Sequence[Bug]]], Output],
    tell: Callable[[str], None],
) -> tuple[list[Drawn], str]:
    """Bugs of a program's parts, at most two in each, and the symptom that a run with all of them shows.

    It may take a minute, and tells how far it is.

    Raises: UsageError where no set of so many is a good one.
    """
    plantings = {part.id: plant(part) for part in program.parts}
    for number, bugs in enumerate(itertools.islice(program.samples(seed, count), MEASURED), start=1):
        tell(f"planting bugs: {sum(map(len, bugs.values()))} in {program.name}, choice {number} of at most {MEASURED}")
        if all(plantings[name].is_good(own) for name, own in bugs.items() if own) and (
            symptom := program.symptom(run(bugs))
        ):
            each = [(name, bug) for name, own in bugs.items() for bug in own]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                outputs = pool.map(lambda one: run({one[0]: [one[1]]}), each)
                alone = {bug.name: program.symptom(output) for (_, bug), output in zip(each, outputs, strict=True)}
            return [Drawn(plantings[name], own, alone) for name, own in bugs.items()], symptom
    raise UsageError(f"{program.name} has no {count} bugs that can be planted together; draw others: --seed N")


def lacking(katas: Sequence[Kata], count: int, slow: bool) -> str:
    """Why nothing could be drawn, and what to do."""
    which = katas[0].id if len(katas) == 1 else f"each of {len(katas)} katas"
    most = max(len(bugs_of(kata, slow)) for kata in katas)
    kind = ("mistake" if most == 1 else "mistakes") + (" of cost" if slow else "")
    if most >= count:
        fewer = f"ask for fewer: --bugs {count - 1}" if count > 1 else "name another kata"
        return f"{which} has no {count} {kind} that can be planted together; {fewer}"
    fewer = f"ask for fewer: --bugs {most}" if most else "name another kata"
    needed = f"{count} are needed" if count > 1 else "1 is needed"
    return f"{which} has {most or 'no'} {kind} that can be planted, and {needed}; {fewer}"


def described(drawn: Drawn) -> list[dict[str, Any]]:
    """The bugs as the round's first event keeps them. Raises: UsageError."""
    right = right_file(drawn.planting.kata).splitlines()
    text = planted(drawn.planting.right, drawn.bugs)
    wrong = text.splitlines()
    made = []
    for bug in drawn.bugs:
        spans = places(bug, drawn.bugs)
        failure = drawn.planting.failure([bug])
        assert failure, "a mistake that was proved fails"
        one = PlantedBug(
            bug.name,
            bug.sentence,
            line=spans[0].start + 1,
            lines=sorted({line for span in spans for line in around(text, span)}),
            was=[wrong[at] for span in spans for at in span],
            right=[line for change in bug.changes for line in right[change.first : change.last]],
            check=failure.check,
            call=failure.call,
            alone=drawn.alone.get(bug.name, ""),
        )
        made.append(asdict(one))
    return made


def around(text: str, span: range) -> set[int]:
    """The lines, from 1, by which a bug may be claimed: those of its statements.

    What was left out has none: the lines beside it count, and the `def` line of its function.
    """
    nodes = [*ast.walk(ast.parse(text))]
    if not span:
        functions = [one for one in nodes if isinstance(one, ast.FunctionDef) and span.start in reach(one)]
        return {span.start, span.start + 1, *(one.lineno for one in functions[-1:])}
    lines = {at + 1 for at in span}
    simple = [reach(one) for one in nodes if isinstance(one, ast.stmt) and not hasattr(one, "body")]
    return lines.union(*(own for own in simple if lines.intersection(own)))


def reach(node: ast.stmt) -> range:
    """Its lines, from 1."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)

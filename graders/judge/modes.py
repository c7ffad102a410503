"""The ways in which one call can be made: dtype, strides, gradients, names. Crossed, so that every two of them meet.

A plan of every combination would multiply the calls by hundreds. One in which every two levels of different factors
meet in some call (a pairwise design) needs hardly more calls than one level after the other, and finds whatever goes
wrong in a combination of two. Which third goes with them is the seed's choice.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import torch
from torch import Tensor

from graders.kata.signatures import Named, parameters_of
from graders.kata.spec import Answer, Arguments, Case
from graders.kata.tolerances import dtype_name
from graders.worker.protocol import Beside, Way


@dataclass(frozen=True)
class Mode:
    """How a call is made.

    Args:
        dtype: of the floating inputs.
        strided: no two neighbours of a tensor are neighbours in memory, or beside a call after it, no two rows. Where
            a tensor repeats itself along an axis, it is expanded along it.
        part: each tensor begins in the middle of a larger one.
        parameters: floating inputs are nn.Parameters.
        gradients: pulled back after the call, only recorded, or off.
        inference: where they are off, that is so under inference_mode, inputs without gradients included.
        twice: where they are pulled back, what counts is the second time.
        evaluating: a module is in eval mode.
        switched: it was called in the other mode before.
        leaves: the inputs that require grad.
        beside: when the same function or instance is called with other values, too: first, with other tensors and with
            the same ones, or before the result is read. Often is seven times before.
        passing: the arguments that have no default by position and the others by name, or all the same way.
        equal: the inputs that have the values of the first of them. No factor, since that changes the result.
        shared: those are one tensor.
        repeated: the input that has along its last axis its first values alone. No factor either.
    """

    dtype: torch.dtype
    strided: bool = False
    part: bool = False
    parameters: bool = False
    gradients: Literal["pulled", "recorded", "off"] = "recorded"
    inference: bool = False
    twice: bool = False
    evaluating: bool = False
    switched: bool = False
    leaves: tuple[str, ...] = ()
    beside: Beside = ""
    passing: Literal["usual", "names", "positions"] = "usual"
    equal: tuple[str, ...] = ()
    shared: bool = False
    repeated: str = ""

    @property
    def phase(self) -> tuple[bool, bool]:
        """One factor: each way of being in train or eval mode meets every way of calling."""
        return self.evaluating, self.switched

    @functools.cached_property
    def ways(self) -> tuple[Way, ...]:
        """What the worker is told of it, and only what matters."""
        off, pulled = self.gradients == "off", self.gradients == "pulled"
        ways: dict[Way, bool] = {
            "part": self.part,
            "parameters": self.parameters,
            "no_grad": off and not self.inference,
            "inference": off and self.inference,
            "twice": pulled and self.twice,
            "evaluating": self.evaluating,
            "switched": self.switched,
        }
        return tuple(way for way, so in ways.items() if so)

    def words(self) -> str:
        """What a learner has to do to make the call the same way: `float32, strided, under no_grad`."""
        words = [dtype_name(self.dtype)]
        words += [f"{self.repeated} the same along its last axis"] * bool(self.repeated)
        words += ["strided"] * self.strided
        words += [WORDS[way] for way in self.ways if way in WORDS]
        words += [f"after a call in {'train' if self.evaluating else 'eval'} mode"] * self.switched
        learning = " and ".join(self.leaves) or "no input"
        words += [f"{learning} requiring grad"] * bool(self.leaves or self.gradients == "pulled")
        words += ["backward a second time"] * ("twice" in self.ways)
        words += [BESIDE[self.beside]] if self.beside else []
        words += [f"arguments by {self.passing.rstrip('s')}"] * (self.passing != "usual")
        same = "one tensor" if self.shared else "equal tensors"
        words += [f"{same} for {' and '.join(self.equal)}"] * bool(self.equal)
        return ", ".join(words)


WORDS: dict[Way, str] = {
    "part": "parts of larger tensors",
    "parameters": "inputs as nn.Parameter",
    "no_grad": "under no_grad",
    "inference": "under inference_mode",
    "evaluating": "in eval mode",
}
BESIDE = {"before": "in a second call", "after": "read after a second call", "often": "in an eighth call"}
IN_PHASE = ("evaluating", "switched")
FACTORS = (*(one.name for one in fields(Mode) if one.name not in IN_PHASE), "phase")
Level = tuple[str, Any]  # a factor, and what it may be
Met = defaultdict[Level, Counter[Level]]  # how often each level met each other one
NOTHING: Set[Level] = frozenset()
MOST_CROSSED = 3  # inputs of which every subset requires grad in some call


def excluding(*pairs: tuple[Level, Level]) -> Mapping[Level, Set[Level]]:
    found = defaultdict[Level, set[Level]](set)
    for one, other in pairs:
        found[one].add(other)
        found[other].add(one)
    return found


MEANINGLESS: tuple[tuple[Level, Level], ...] = (
    (("inference", True), ("gradients", "pulled")),
    (("inference", True), ("gradients", "recorded")),
    (("inference", True), ("twice", True)),
    (("twice", True), ("gradients", "recorded")),
    (("twice", True), ("gradients", "off")),
)
NEVER_IN_A_MODULE = excluding(*MEANINGLESS)
NEVER = excluding(*MEANINGLESS, *((one, ("leaves", ())) for one in (("gradients", "pulled"), ("twice", True))))


@dataclass(frozen=True)
class Choices:
    """The levels that a call may have of each factor, and what each excludes and is excluded by."""

    levels: Mapping[str, Sequence[Any]]
    never: Mapping[Level, Set[Level]] = field(default_factory=dict)

    def fixed(self, **levels: Any) -> Choices:
        """With only these levels of some factors."""
        return Choices({**self.levels, **{factor: [level] for factor, level in levels.items()}}, self.never)

    def pairs(self) -> Iterator[tuple[Level, Level]]:
        """Every two levels that may meet."""
        each = [[(factor, level) for level in self.levels[factor]] for factor in FACTORS]
        for one, other in itertools.combinations(each, 2):
            yield from (pair for pair in itertools.product(one, other) if pair[1] not in self.never.get(pair[0], ()))


def choices_of(answer: Answer, case: Case, given: Arguments) -> Choices:
    """What the modes of a call are chosen from: the case's dtypes alone, and gradients where it asks for them."""
    parameters = {} if case.scenario else parameters_of(answer.forward or answer.signature)
    leaves = tuple(name for name in answer.differentiable if isinstance(given.get(name), Tensor))
    optional = any(default is not ... and name in given for name, default in parameters.items())
    optional &= not any(isinstance(default, Named) for default in parameters.values())  # which cannot be sent
    pulled = bool((leaves or answer.parameters) and case.gradients != "none" and not case.raises)
    floats = any(isinstance(value, Tensor) and value.is_floating_point() for value in given.values())
    module = bool(answer.forward and not case.raises)

    def perhaps(so: bool) -> list[bool]:
        return [False, True] if so and not case.raises else [False]

    return Choices(
        {
            "dtype": (*case.dtypes, *answer.halves_in(case)),
            "strided": [False, True],
            "part": perhaps(any(isinstance(value, Tensor) for value in given.values())),
            "parameters": perhaps(floats),
            "gradients": [*["pulled"] * pulled, "recorded", *["off"] * (not answer.records)],
            "inference": perhaps(answer.inference and not (answer.records or case.scenario)),
            "twice": perhaps(pulled),
            "phase": [*itertools.product([False, True] if answer.forward else [False], perhaps(module))],
            "leaves": subsets(leaves),
            "beside": ["", "before"] if case.raises else ["before", "after", *["often"] * module],
            "passing": ["usual", *(["names"] if parameters else []), *(["positions"] if optional else [])],
            "equal": [()],
            "shared": [False],
            "repeated": [""],
        },
        NEVER_IN_A_MODULE if answer.parameters else NEVER,
    )


def covering(
    slots: Sequence[Choices], calls: Sequence[Choices], chooser: random.Random, met: Met
) -> list[tuple[int, Mode]]:
    """Modes in which every two levels meet that may in some call.

    Args:
        slots: what each mode that is needed anyway is chosen from.
        calls: what modes of a call are chosen from where the slots were too few.
        met: how often two levels did so far; what is chosen here is added.
    Returns: a mode for each slot, with its index, then those more, with their call's index.
    """
    made = [(index, fill(choices, met, chooser)) for index, choices in enumerate(slots)]
    done: list[Choices] = []  # all of whose levels have met
    for index in chooser.sample(range(len(calls)), len(calls)):
        if calls[index] in done:
            continue
        done.append(calls[index])
        for one, other in calls[index].pairs():
            if not met[one][other]:
                made.append((index, fill(calls[index].fixed(**dict((one, other))), met, chooser)))
    return made


def fill(choices: Choices, met: Met, chooser: random.Random) -> Mode:
    """Gives one factor after the other the level that met the fewest of those chosen so far; counts them as met."""
    chosen: dict[str, Any] = {}

    def meetings(factor: str, level: Any) -> tuple[int, int, float]:
        often = met[factor, level].get
        counts = [often(other, 0) for other in chosen.items()]
        return -counts.count(0), sum(counts), chooser.random()

    for factor in sorted(FACTORS, key=lambda factor: (len(choices.levels[factor]) > 1, chooser.random())):
        possible = [
            level
            for level in choices.levels[factor]
            if choices.never.get((factor, level), NOTHING).isdisjoint(chosen.items())
        ]
        chosen[factor] = min(possible, key=lambda level: meetings(factor, level))
    for one in chosen.items():
        met[one].update(chosen.items())
    phase = dict(zip(IN_PHASE, chosen.pop("phase"), strict=True))
    return Mode(**chosen, **phase)


def subsets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Every one of up to three; of more, none, each and all, so that every two are in one and out of one."""
    sizes = range(len(names) + 1) if len(names) <= MOST_CROSSED else (0, 1, len(names))
    return [some for size in sizes for some in itertools.combinations(names, size)]

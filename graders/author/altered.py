"""The reference's replies to a kata's own tests, with fewer rows, more, none, or one for all: each test should fail.

A test of statistics could take the size of its sample from what came back, and so pass the half of a sample.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from graders.faults import CheckFailed
from graders.judge import correctness
from graders.judge.agreement import Agreement
from graders.judge.checks import Check
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.kata import comm
from graders.sandbox.messages import Reply, Request
from graders.sandbox.returned import Returned, is_listing
from graders.sandbox.submission import Submission

Rows = list[Any]  # of a list, or, by their numbers, of a tensor
Place = tuple[tuple[str | int, ...], int]  # of a tensor or a list in a result, and an axis
ALTERATIONS: dict[str, Callable[[Rows], Rows]] = {
    "half of the rows": lambda rows: rows[: len(rows) // 2],
    "all rows twice": lambda rows: rows + rows,
    "no rows": lambda rows: [],
}
ONE_FOR_ALL = {"one row for all": lambda rows: rows[:1] * len(rows)}


def survivors(planned: Iterable[Check], vectors: TestVectors, right: Submission) -> Iterator[str]:
    """Own tests that pass altered results, or fail by an error of their own."""
    for check in planned:
        if not isinstance(check.ask, functools.partial) or check.ask.func is not correctness.own_test:
            continue
        one = Altered(right)
        trial = Trial(vectors, cast(Submission, one), None, {})
        check.ask(trial)
        seen = {place: None for request in one.asked for place in places(right.ask(request).result)}
        random = not all(as_oracles(Trial(vectors, right, None, {}), request) for request in one.asked)
        alterations = ALTERATIONS | (ONE_FOR_ALL if random else {})
        for one.place, (word, one.alter) in itertools.product(seen, alterations.items()):
            one.altered = False
            path, axis = one.place
            what = f"{word} of {'.'.join(map(str, path)) or 'the result'}, along axis {axis}"
            try:
                check.ask(trial)
                if one.altered and check.category != "contract":
                    yield f"{check.name} passes {what}"
            except CheckFailed as failure:
                if failure.__cause__:
                    yield f"{check.name} should say what is wrong with {what}, but {failure}"


def as_oracles(trial: Trial, request: Request) -> bool:
    """Whether the reference returns what the oracles do: not random, and the cases compare such values."""
    wanted = trial.vectors.forms.get(request.message)
    if request.summary or wanted is None:
        return False
    try:
        tolerance = Agreement(trial.vectors.grader).tolerance(request, trial.ask(request))
        correctness.same_values(trial, request, wanted, tolerance)
    except CheckFailed:
        return False
    return True


class Altered:
    """The reference, whose results have other rows at one place."""

    def __init__(self, right: Submission) -> None:
        self.right = right
        self.asked: list[Request] = []
        self.place: Place = ((), -1)  # nowhere
        self.alter: Callable[[Rows], Rows] = list
        self.altered = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def ask(self, request: Request) -> Reply:
        reply = self.right.ask(request)
        self.asked.append(request)
        if self.place not in places(reply.result):
            return reply
        other = altered(reply.result, *self.place, self.alter)
        before, after = (at(each, self.place[0]) for each in (reply.result, other))
        self.altered |= not torch.equal(before, after) if isinstance(before, Tensor) else repr(before) != repr(after)
        return replace(reply, result=other)


def places(result: Returned, path: tuple[str | int, ...] = ()) -> Iterator[Place]:
    """Each axis of each tensor, of which a number alone has one, and each list; but what a rank did is no sample."""
    if isinstance(result, Tensor | list):
        yield from ((path, axis) for axis in range(max(getattr(result, "ndim", 1), 1)))
    if isinstance(result, dict | tuple | list) and not is_listing(result):
        for key, item in result.items() if isinstance(result, dict) else enumerate(result):
            yield from places(item, (*path, key)) if key != comm.DID else ()


def at(result: Any, path: Sequence[str | int]) -> Any:
    return at(result[path[0]], path[1:]) if path else result


def altered(result: Any, path: Sequence[str | int], axis: int, alter: Callable[[Rows], Rows]) -> Any:
    """The result with other rows at this place."""
    if path:
        items: Any = dict(result) if isinstance(result, dict) else list(result)
        items[path[0]] = altered(items[path[0]], path[1:], axis, alter)
        return tuple(items) if isinstance(result, tuple) else items
    if isinstance(result, list):
        return alter(result)
    rows = result if result.ndim else result[None]
    return rows.index_select(axis, torch.tensor(alter([*range(rows.shape[axis])]), dtype=torch.int64))

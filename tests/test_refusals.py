"""Bad arguments are of the types that the signature promises: what raises for others is nobody's business."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

import pytest

from graders.catalogue import katas
from graders.catalogue.katas import Kata, load_module
from graders.kata.draw import Draw
from graders.kata.spec import Answer, Case

REFUSING = [
    (kata, answer, case)
    for kata in katas.all_katas()
    for answer in kata.grader.answers
    for case in answer.cases
    if case.raises
]


@pytest.mark.parametrize(
    ("kata", "answer", "case"), REFUSING, ids=[f"{kata.id}-{case.name}" for kata, _, case in REFUSING]
)
def test_what_is_refused_has_the_types_of_the_signature(kata: Kata, answer: Answer, case: Case) -> None:
    promised = types_of(getattr(load_module(kata.reference_file, f"reference_of_{kata.id}"), answer.name))
    for arguments in case.calls(Draw(0)) or [{}]:
        given = {**case.constructed(Draw(0)), **arguments}
        others = {name: value for name, value in given.items() if not fits(value, promised.get(name, Any))}
        assert not others, f"{promised}"


def types_of(target: Any) -> dict[str, Any]:
    """Of a function's parameters, or those of a class's methods."""
    functions = (
        [one for one in vars(target).values() if inspect.isfunction(one)] if isinstance(target, type) else [target]
    )
    return {name: one for function in functions for name, one in typing.get_type_hints(function).items()}


def fits(value: Any, promised: Any) -> bool:
    kind, parts = typing.get_origin(promised) or promised, typing.get_args(promised)
    if kind in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if kind is Any or isinstance(value, bool):
        return kind in (Any, bool)
    if kind in (tuple, list) and isinstance(value, kind):
        return all(fits(one, parts[0]) for one in value)
    return isinstance(value, int | float if kind is float else kind)


@pytest.mark.parametrize(
    ("value", "promised", "fitting"),
    [
        (1, float, True), (1.5, float, True), (1.5, int, False), (True, int, False), (True, bool, True),
        (None, str, False), (["x"], str, False), (None, float | None, True), (2, float | None, True),
        ("x", float | None, False), ((1, 2), tuple[int, ...], True), ((1, "a"), tuple[int, ...], False),
        ([1], list[int], True), (object(), Any, True),
    ],
)  # fmt: skip
def test_types_are_told_apart(value: Any, promised: Any, fitting: bool) -> None:
    assert fits(value, promised) == fitting

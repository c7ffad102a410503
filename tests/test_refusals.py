"""Bad arguments are of the types that the signature promises: what raises for others is nobody's business."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

import pytest

from graders.catalogue import katas
from graders.catalogue.katas import Kata, load_module
from graders.judge.left import left_over
from graders.judge.results import Outcome, Result
from graders.kata.draw import Draw
from graders.kata.spec import CATEGORIES, Answer, Case
from tests.toys import failures, grade, make_repository

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


CASES = """                Case("edge", lambda draw: [{"x": draw.normal(n)} for n in (11, 12, 13)], core=False),
                *(
                    Case(f"refuses_{n}", lambda draw, n=n: {"x": draw.normal(2), "factor": n}, raises=ValueError)
                    for n in (4, 5, 6)
                ),
                Case("no_row", lambda draw: {"x": draw.normal(2), "factor": 8}, raises=(ValueError, IndexError)),
"""
SPOILED = {
    "hangs": "while factor == 4: pass",
    "fills_the_memory": "bytearray(1 << (33 if factor == 4 else 3))",
    "ends_in_all": "factor in (4, 5, 6) and os._exit(1)",
    "ends_at_an_edge": "len(x) > 10 and os._exit(1)",
    "has_no_row": "factor == 8 and x[8]",
    "has_no_key": "factor == 8 and {}[8]",
}
REFUSES = "the call: should raise ValueError, but"
ENDED = "ended its process with exit status 1"


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Right answers, but for what they do first."""
    root = make_repository(tmp_path_factory.mktemp("spoiled"))
    grader = root / "katas/toys/scale/grader.py"
    second = '                Case("factors"'
    grader.write_text(grader.read_text(encoding="utf-8").replace(second, CASES + second), encoding="utf-8")
    rest = "\n    if factor == 0 or factor > 3:\n        raise ValueError\n    return x / (1 / factor)\n"
    start = "import os\n\n\ndef scale(x, factor=2.0):\n    "
    return grade(root, "scale", {name: f"{start}{first}{rest}" for name, first in SPOILED.items()})


def test_what_bad_arguments_take_costs_their_refusal_alone(spoiled: dict[str, Any]) -> None:
    assert failures(spoiled["hangs"]) == {
        "contract/refuses_4": f"{REFUSES} did not return in 10 s (line 5: `while factor == 4: pass`)"
    }
    assert list(failures(spoiled["fills_the_memory"])) == ["contract/refuses_4"]
    late = "not tested, since 3 calls in a row that should be refused gave no answer"
    assert failures(spoiled["ends_in_all"]) == {f"contract/refuses_{n}": f"{REFUSES} {ENDED}" for n in (4, 5, 6)} | {
        "contract/no_row": late,
        "contract/no_factor": late,
    }
    assert all(one["core"] for one in spoiled.values())


def test_an_index_error_refuses_where_the_case_says_so(spoiled: dict[str, Any]) -> None:
    assert spoiled["has_no_row"]["state"] == "solved"
    assert failures(spoiled["has_no_key"]) == {
        "contract/no_row": "the call: should raise ValueError or IndexError, got KeyError: 8 (line 5: "
        "`factor == 8 and {}[8]`)"
    }


def test_what_edges_take_costs_nothing_of_the_core(spoiled: dict[str, Any]) -> None:
    result = spoiled["ends_at_an_edge"]
    assert result["core"]
    assert (result["first_failure"], failures(result)["shapes/edge"]) == ("shapes/edge", f"the call: {ENDED}")
    assert [test["category"] for test in result["tests"]] == sorted(
        (test["category"] for test in result["tests"]), key=CATEGORIES.index
    )


def test_what_was_not_tested_is_shown_last() -> None:
    kinds = {"a": "not tested, since 3 calls in a row did not return", "b": f"{REFUSES} {ENDED}"}
    failed = [Outcome(f"contract/{n}", "contract", "fail", 1, text, call=f"f({n}=1)") for n, text in kinds.items()]
    result = Result("k", "t", "k.py", outcomes=failed, planned=3)
    assert result.first_failure is failed[1]
    assert left_over(result) == [
        ("no error", f"b: b=1: {kinds['b'].partition(': ')[2]}"),
        ("not tested", "1 check, since 3 calls in a row did not return"),
    ]

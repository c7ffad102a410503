"""Every two ways of making a call meet in every grading, whatever the seed; the seed decides what goes with them."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch

from graders.catalogue import katas
from graders.judge.modes import FACTORS, Mode, choices_of
from graders.judge.vectors import TestVectors
from graders.kata.spec import Answer, Case, Grader
from graders.kata.tolerances import HALF

ANSWERS = [
    pytest.param(kata, answer, id=f"{kata.id}-{answer.name}")
    for kata in katas.find([])
    for answer in kata.grader.answers
]
SEEDS = (1, 2, 20260727)


@functools.cache
def exam_of(kata: katas.Kata, seed: int) -> TestVectors:
    return TestVectors(kata.id, kata.grader, seed)


def calls_of(vectors: TestVectors, answer: Answer, raising: bool) -> list[tuple[Case, int]]:
    cases = [case for case in answer.cases if case.inputs and bool(case.raises) == raising]
    return [(case, index) for case in cases for index in range(len(vectors.arguments(case)))]


def modes_of(vectors: TestVectors, answer: Answer, raising: bool) -> list[tuple[Case, int, Mode]]:
    cases = [case for case in answer.cases if bool(case.raises) == raising]
    return [(case, index, mode) for case in cases for index, mode in vectors.crossed(answer)[case.name]]


def pairs(levels: dict[str, Any]) -> set[frozenset[tuple[str, Any]]]:
    return {frozenset(pair) for pair in itertools.combinations(levels.items(), 2)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_every_two_levels_meet(kata: katas.Kata, answer: Answer, seed: int) -> None:
    vectors = exam_of(kata, seed)
    for raising in (False, True):
        possible = {
            frozenset(pair)
            for case, index in calls_of(vectors, answer, raising)
            for pair in choices_of(answer, case, vectors.arguments(case)[index]).pairs()
        }
        met: set[frozenset[tuple[str, Any]]] = set()
        for _, _, mode in modes_of(vectors, answer, raising):
            met |= pairs({factor: getattr(mode, factor) for factor in FACTORS})
        assert possible == met


@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_every_call_is_made_strided_beside_another_and_under_no_grad_at_once(kata: katas.Kata, answer: Answer) -> None:
    vectors = exam_of(kata, 1)
    for case, index in calls_of(vectors, answer, raising=False):
        if index not in vectors.crossed_calls(case):  # of eight ranks, where fewer do as well
            continue
        modes = [mode for at, mode in vectors.crossed(answer)[case.name] if at == index]
        gradients = "recorded" if answer.records else "off"
        assert any(mode.strided and mode.beside and mode.gradients == gradients for mode in modes)


@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_crossing_costs_at_most_a_few_calls_more_than_going_through_them(kata: katas.Kata, answer: Answer) -> None:
    vectors = exam_of(kata, 1)
    for raising, each in ((False, 2), (True, 1)):
        calls = calls_of(vectors, answer, raising)
        assert len(modes_of(vectors, answer, raising)) <= each * len(calls) + 24


@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_modes_keep_to_what_their_case_asks(kata: katas.Kata, answer: Answer) -> None:
    vectors = exam_of(kata, 1)
    for case, index, mode in modes_of(vectors, answer, False) + modes_of(vectors, answer, True):
        halves = answer.halves_in(case)
        assert mode.dtype in (*case.dtypes, *halves)
        assert mode.dtype not in HALF or set(HALF) & {*case.dtypes, *halves}
        assert set(mode.leaves) <= set(answer.differentiable) & set(vectors.arguments(case)[index])
        assert mode.gradients != "pulled" or mode.leaves or answer.parameters
        assert mode.gradients != "pulled" or (case.gradients != "none" and not case.raises)
        assert answer.forward or not (mode.evaluating or mode.switched or mode.beside == "often")
        assert not mode.twice or mode.gradients == "pulled"
        assert not mode.inference or mode.gradients == "off"


@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_every_subset_of_three_inputs_requires_grad(kata: katas.Kata, answer: Answer) -> None:
    learning = {mode.leaves for _, _, mode in modes_of(exam_of(kata, 1), answer, raising=False)}
    for some in learning:
        if len(some) == 3 == len(answer.differentiable):
            assert learning >= {pair for size in range(3) for pair in itertools.combinations(some, size)}


@pytest.mark.parametrize(("kata", "answer"), ANSWERS)
def test_half_precision_meets_every_way(kata: katas.Kata, answer: Answer) -> None:
    vectors = exam_of(kata, 1)
    for half in answer.halves if answer.cases else ():
        modes = [mode for _, mode in vectors.crossed(answer)[answer.cases[0].name] if mode.dtype == half]
        assert {mode.strided for mode in modes} == {True, False}
        assert answer.records or {mode.gradients for mode in modes} >= {"off", "recorded"}
        assert not answer.forward or {mode.evaluating for mode in modes} == {True, False}


def test_the_seed_chooses_what_meets_besides_and_the_selection_does_not() -> None:
    (kata,) = katas.find(["cosine_similarity"])
    (answer,) = kata.grader.answers
    one, same, other = (TestVectors(kata.id, kata.grader, seed) for seed in (1, 1, 2))
    same.requests(answer, answer.cases[3], torch.float32)
    assert one.crossed(answer) == same.crossed(answer)
    assert one.crossed(answer) != other.crossed(answer)


def test_arguments_by_position_are_filled_up_with_the_defaults() -> None:
    (kata,) = katas.find(["cosine_similarity"])
    (answer,) = kata.grader.answers
    vectors = exam_of(kata, 1)
    case = next(case for case in answer.cases if case.name == "above_eps")  # gives x, y and eps
    request = vectors.request(answer, case, Mode(torch.float64, passing="positions"), 0)
    assert (request.positional, list(request.arguments or {})) == (4, ["x", "y", "dim", "eps"])
    assert (request.arguments or {})["dim"] == -1
    assert vectors.request(answer, case, Mode(torch.float64, passing="names"), 0).positional == 0


def test_a_mode_is_told_in_words() -> None:
    mode = Mode(
        torch.float32, True, gradients="off", evaluating=True, leaves=("x", "y"), beside="before", passing="names"
    )
    assert mode.words() == (
        "float32, strided, under no_grad, in eval mode, x and y requiring grad, in a second call, arguments by name"
    )
    mode = Mode(
        torch.float64, part=True, parameters=True, gradients="pulled", twice=True, leaves=("x",), beside="often"
    )
    assert mode.words() == (
        "float64, parts of larger tensors, inputs as nn.Parameter, x requiring grad, backward a second time, "
        "in an eighth call"
    )
    mode = Mode(torch.float64, gradients="off", inference=True, switched=True, equal=("x", "y"), shared=True)
    assert mode.words() == "float64, under inference_mode, after a call in eval mode, one tensor for x and y"


def test_inputs_without_gradients_may_be_one_tensor_and_what_is_one_has_several_rows() -> None:
    shared = {}
    for name in ("knn_probe", "confusion_matrix", "two_tower"):
        (kata,) = katas.find([name])
        (answer,) = kata.grader.answers
        shared[name] = exam_of(kata, 1).shareable(answer)
    ((_, _, labels),) = shared["confusion_matrix"]
    assert labels == ("y_true", "y_pred")
    assert {names for _, _, names in shared["knn_probe"]} == {("train_x", "test_x"), ("train_y", "test_y")}
    ((case, index, towers),) = shared["two_tower"]
    assert towers == ("user", "item")
    assert len(exam_of(kata, 1).arguments(case)[index]["user"]) > 1


def test_each_input_is_expanded_along_its_last_axis() -> None:
    (kata,) = katas.find(["layer_norm"])
    (answer,) = kata.grader.answers
    vectors = exam_of(kata, 1)
    found = vectors.expandable(answer)
    assert [name for _, _, name in found] == ["x", "weight", "bias"]
    for case, index, name in found:
        mode = Mode(torch.float64, repeated=name)
        apart, expanded = (vectors.request(answer, case, replace(mode, strided=one), index) for one in (False, True))
        assert torch.equal((apart.arguments or {})[name], (expanded.arguments or {})[name])
        assert (apart.arguments or {})[name].stride(-1) == 1
        assert (expanded.arguments or {})[name].stride(-1) == 0


def test_arguments_are_passed_in_the_order_of_the_signature() -> None:
    case = Case("swapped", lambda draw: {"c": 3.0, "b": torch.ones(1), "a": torch.zeros(1)})
    answer = Answer("f(a, b, c=2.0, d=1)", oracle=lambda a, b, c, d=1: a - b, cases=(case,))
    vectors = TestVectors("toy", Grader(answers=(answer,)), 1)
    for passing in ("usual", "positions", "names"):
        request = vectors.request(answer, case, Mode(torch.float64, passing=passing), 0)
        assert request.arguments is not None
        assert list(request.arguments) == ["a", "b", "c"]


def test_strides_are_not_told_of_a_call_without_tensors() -> None:
    vectors = exam_of(katas.find_one("lr_schedule"), 1)
    for answer in vectors.grader.answers:
        for case, index, mode in modes_of(vectors, answer, raising=False):
            assert "strided" not in vectors.request(answer, case, mode, index).mode

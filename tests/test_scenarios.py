"""What a grader can say beyond one call: scenarios, classes, results of any plain form, no autograd, no optimiser."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.faults import FAULT, GraderError
from graders.judge.expected import refuse_result
from graders.kata.calls import within
from graders.kata.compare import first_difference
from graders.kata.scenario import source_of
from graders.kata.spec import Answer, Budget, Case, Grader, refuse_inputs
from graders.sandbox.returned import Returned, in_words, leaves_of, other_form
from tests.toys import ABOUT, NO_MISTAKES, failures, grade, run

GRADER = """
import contextlib

import pytest
import torch

from graders.kata import Answer, Budget, Case, CheckFailed, Grader

ONE = (torch.float64,)


class Right:
    def __init__(self, step):
        self.step, self.total = step, 0.0

    def add(self, x):
        self.total += self.step
        return x * self.total


def continued(Counter, x, words):
    counter = Counter(3.0)
    first = counter.add(x)
    return {"first": first, "second": counter.add(x), "total": counter.total, "words": [words, len(words), None, True]}


def refused(Counter, x):
    return Counter(0.0).add(x)


def applied(twice, x, shape):
    calls = []

    def double(y):
        calls.append(y.shape)
        return 2 * y

    out = x.clone()
    back = twice(double, out)
    return {"value": out, "same object": back is out, "calls": len(calls), "shape": shape == x.shape}


def twice(function, x):
    return x.copy_(function(function(x)))


GRADER = Grader(
    answers=(
        Answer(
            "class Counter(step)",
            methods=("add(x)",),
            oracle=Right,
            differentiable=("x",),
            cases=(
                Case("continued", lambda draw: {"x": draw.normal(2, 3), "words": "né 🙂"}, scenario=continued),
                Case("no_step", lambda draw: {"x": draw.normal(2, 3)}, scenario=refused, raises=ValueError),
            ),
        ),
        Answer(
            "twice(function, x)",
            oracle=twice,
            cases=(Case("doubled", lambda draw: {"x": draw.normal(4), "shape": (4,)}, scenario=applied),),
        ),
        Answer(
            "pieces(n)",
            oracle=lambda n: ([n / 3, n], {"text": "é" * n, "none": None, "ids": [*range(n)]}, n > 2),
            cases=(Case("numbers", lambda draw: [{"n": 2}, {"n": 3}], dtypes=(torch.float64,)),),
        ),
        Answer(
            "quoted(text, marks=('«', '»'), dtype=torch.uint8)",
            oracle=lambda text, marks=("«", "»"): text.join(marks),
            cases=(Case("words", lambda _: [{"text": "a"}, {"text": "b", "marks": ("<", ">")}], dtypes=ONE),),
            budgets=tuple(
                Budget(name, {"letters": (9, 99)}, lambda draw, letters: {"text": "é" * letters}, asks=("time",))
                for name in ("long_text", "other_text")
            ),
        ),
        Answer("judged_by_a_test(x)", oracle=None),
    ),
    banned=("autograd", "optim"),
)


def test_is_positive(submission, draw):
    x = draw.normal(3)
    found = submission.call("judged_by_a_test", like=x, x=x)
    assert (found > 0).all(), "the result: should be positive"
    assert torch.allclose(found.log(), x)


def applied_to(judged_by_a_test, x):
    return {"made": judged_by_a_test(x)}


def test_mean(submission, draw):
    x = draw.normal(4)
    mean = submission.run(applied_to, like={"made": x}, summary=lambda found: found["made"].mean(), x=x)
    assert torch.allclose(mean, x.exp().mean()), "the mean: should be that of e^x"


@pytest.mark.contract
def test_no_result_for_a_text(submission, draw):
    with contextlib.suppress(CheckFailed):
        submission.call("judged_by_a_test", x="a")
        raise AssertionError("judged_by_a_test: should raise for a text, got a result")


def test_of_a_scenario(submission, draw):
    assert submission.run(continued, x=draw.normal(1), words="a")["total"] == 6.0
"""
RIGHT = """
import torch


class Counter:
    def __init__(self, step):
        # --- solution
        # TODO: keep it.
        if step == 0:
            raise ValueError("step should not be 0")
        self.step, self.total = step, 0.0
        # --- end

    def add(self, x):
        x.detach().clone().add_(x.view_as(x).data).zero_()  # nothing of x's is written to
        self.total += self.step
        return x * self.total


def twice(function, x):
    return x.copy_(function(function(x)))


def pieces(n):
    return [n / 3, n], {"text": "é" * n, "none": None, "ids": [*range(n)]}, n > 2


def quoted(text, marks=("«", "»"), dtype=torch.uint8):
    return text.join(marks)


def judged_by_a_test(x):
    return x.exp()
"""
DERIVED = "    y = x.detach().requires_grad_()\n    with torch.enable_grad():\n        {}\n    return x.exp()"
OPTIMISED = "    torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0).step()\n    return x.exp()"
# name: (what is replaced, by what, the check that should fire, its message)
WRONG = {
    "no_class": ("class Counter", "class Counters", "contract/Counter_signature", "Counter: should be defined"),
    "a_function": (
        "class Counter:\n    def __init__",
        "def Counter(step): ...\n\n\nclass Other:\n    def __init__",
        "contract/Counter_signature",
        "Counter: should be a class, got something else",
    ),
    "no_method": ("def add", "def plus", "contract/Counter_signature", "Counter.add: should be defined"),
    "forgets": (
        "self.total += self.step",
        "self.total = self.step",
        "numerics/continued/float64",
        "values of second: ",
    ),
    "detached": (
        "return x * self.total",
        "return x.detach() * self.total",
        "gradients/continued/float64",
        "gradient of x",
    ),
    "writes_the_same_values": (
        "return x * self.total",
        "x.detach().mul_(1)\n        return x * self.total",
        "robustness/Counter_inputs_left_alone",
        "x: should be left as it was, but is written to in place, even if with the same values",
    ),
    "accepts_no_step": (
        "raise ValueError",
        "print",
        "contract/no_step",
        "the call: should raise ValueError, got a result",
    ),
    "another_tensor": (
        "x.copy_(function(function(x)))",
        "function(function(x))",
        "numerics/doubled/float64",
        "values of value",
    ),
    "once_too_often": (
        "return x.copy_(",
        "function(x)\n    return x.copy_(",
        "numerics/doubled/float64",
        "calls: should be 2, got 3",
    ),
    "tuple_for_list": (
        "[n / 3, n]",
        "(n / 3, n)",
        "numerics/numbers/float64",
        "output 1: should be a list of (a float, an int), got a tuple of (a float, an int)",
    ),
    "other_number": ("n / 3", "n / 3.0001", "numerics/numbers/float64", "item 1 of output 1: should be 0.66"),
    "number_in_float32": (
        "n / 3",
        "torch.tensor(n / 3).item()",
        "numerics/numbers/float64",
        "item 1 of output 1: should be",
    ),
    "no_attribute": (
        "self.step, self.total = step, 0.0",
        "self.step, self.sum = step, 0.0",
        "shapes/continued",
        "the call: should return, got AttributeError: 'Counter' object has no attribute 'total'",
    ),
    "other_text": ('"é" * n', '"e" * n', "numerics/numbers/float64", "text of output 2: should be 'éé', got 'ee'"),
    "other_key": (
        '"none"',
        '"null"',
        "numerics/numbers/float64",
        "output 2: should be a dict of text, none, ids, got a dict of text, null, ids",
    ),
    "more_ids": (
        "[*range(n)]",
        "[*range(n), 7]",
        "numerics/numbers/float64",
        "ids of output 2: should be [0, 1], got [0, 1, 7]; item 1 of output 1 right",
    ),
    "object": ("n > 2", "object()", "numerics/numbers/float64", "output 3: should be a bool, got object"),
    "other_marks": (
        'marks=("«", "»")',
        'marks=("«", "«")',
        "contract/quoted_signature",
        "default of marks in quoted: should be ('«', '»'), got ('«', '«')",
    ),
    "other_dtype": (
        "dtype=torch.uint8",
        "dtype=torch.int8",
        "contract/quoted_signature",
        "default of dtype in quoted: should be torch.uint8, got torch.int8",
    ),
    "cut": ("text.join", "text[:50].join", "performance/long_text/time", "the output: should be '«é"),
    "negative": ("x.exp()", "-x.exp()", "numerics/is_positive", "the result: should be positive"),
    "half": ("x.exp()", "x.exp()[::2]", "numerics/is_positive", "shape of the output: should be (3,), got (2,)"),
    "a_column": ("x.exp()", "x.exp()[:, None]", "numerics/mean", "shape of made: should be (4,), got (4, 1)"),
    "twice_as_many": ("x.exp()", "x.exp().repeat(2)", "numerics/mean", "shape of made: should be (4,), got (8,)"),
    "in_float32": ("x.exp()", "x.exp().float()", "numerics/mean", "dtype of made: should be float64, got float32"),
    "listed": ("x.exp()", "x.exp().tolist()", "numerics/mean", "made: should be a tensor, got a list of 4 floats"),
    "nothing_for_a_text": (
        "x.exp()",
        'None if x == "a" else x.exp()',
        "contract/no_result_for_a_text",
        "judged_by_a_test: should raise for a text, got a result",
    ),
    "grad": (
        "    return x.exp()",
        DERIVED.format("torch.autograd.grad(y.sum(), y)"),
        "rules/judged_by_a_test_calls",
        "the rules: autograd is not allowed",
    ),
    "backward": (
        "    return x.exp()",
        DERIVED.format("y.exp().sum().backward()"),
        "rules/judged_by_a_test_calls",
        "the rules: autograd is not allowed",
    ),
    "forward_mode": (
        "    return x.exp()",
        "    torch.func.jvp(torch.exp, (x,), (x,))\n    return x.exp()",
        "rules/judged_by_a_test_calls",
        "the rules: make_dual is not allowed",
    ),
    "compiled": (
        "    return x.exp()",
        '    torch.jit.CompilationUnit("def f(x: Tensor):\\n    return torch.autograd.grad([x.sum()], [x])\\n")\n'
        "    return x.exp()",
        "numerics/is_positive",
        "the rules: autograd is not allowed in this kata, but is called",
    ),
    "optimiser": ("    return x.exp()", OPTIMISED, "rules/judged_by_a_test_calls", "the rules: "),
}


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("scenarios")
    folder, solutions = root / "katas/toys/counter", root / "solutions/toys/counter"
    for place in (folder, solutions):
        place.mkdir(parents=True)
    (folder / "grader.py").write_text(GRADER)
    (folder / "README.md").write_text(ABOUT.format("counter", "toys", 1, "[]", 15))
    (solutions / "counter.py").write_text(RIGHT)
    (solutions / "mistakes.py").write_text(NO_MISTAKES)
    (folder / "counter.py").write_text(RIGHT)
    return root


def test_right_answer_passes_and_each_wrong_one_fails_where_it_should(counters: Path) -> None:
    sources = {"right": RIGHT}
    for name, (old, new, _, _) in WRONG.items():
        assert RIGHT.count(old) == 1, name
        sources[name] = RIGHT.replace(old, new)
    graded = grade(counters, "counter", sources)
    assert graded["right"]["state"] == "solved", graded["right"]["tests"]
    for name, (_, _, check, message) in WRONG.items():
        failed = failures(graded[name])
        assert check in failed, (name, failed)
        assert failed[check].startswith(message), (name, failed[check])


@pytest.mark.parametrize("stated", ["like=x, ", 'like={"made": x}, '])
def test_own_test_that_does_not_say_what_comes_back_is_refused(counters: Path, tmp_path: Path, stated: str) -> None:
    root = shutil.copytree(counters, tmp_path / "root")
    assert GRADER.count(stated) == 1
    (root / "katas/toys/counter/grader.py").write_text(GRADER.replace(stated, ""))
    ran = run(root, "grade", "counter")
    assert ran.status == FAULT
    assert "should say what comes back, as like=…: judged_by_a_test has no oracle" in " ".join(ran.out.split())


def test_card_shows_what_a_scenario_does(counters: Path) -> None:
    (counters / "wrong.py").write_text(RIGHT.replace("self.total += self.step", "self.total = self.step"))
    ran = run(counters, "grade", "counter", "--submission", str(counters / "wrong.py"), "--seed", "1")
    assert "continued(x[2, 3] float64, words='né 🙂')  # seed 1" in ran.out
    shown = " ".join(ran.out.split())
    assert shown.index("second wrong") < shown.index("code counter = Counter(3.0)") < shown.index("rerun")


def test_standard_answers_and_mistakes_are_proved(counters: Path, tmp_path: Path) -> None:
    ran = run(counters, "prove", "counter", "--json", str(tmp_path / "proof.json"))
    (proof,) = json.loads((tmp_path / "proof.json").read_text())
    assert not [fault for fault in proof["faults"] if "mutant" not in fault and "seed" not in fault], ran.out
    assert proof["right"] == proof["accepted"] == 2  # the reference, and one that asserts
    assert proof["standard"] == proof["standard_killed"] == 4  # three of `twice`, and the `raise` left out


def outside(f, x):  # type: ignore[no-untyped-def]  # as authors write them
    return f(x) + len(NO_MISTAKES)


def with_torch(f, x):  # type: ignore[no-untyped-def]
    return [f(one) for one in torch.unbind(x)] and math.pi


def test_scenario_that_could_not_run_beside_a_submission_is_refused() -> None:
    assert "math.pi" in source_of(with_torch)
    with pytest.raises(GraderError, match=r"scenario outside should use .* alone, got NO_MISTAKES"):
        Case("one", lambda draw: {"x": draw.normal(3)}, scenario=outside)
    with pytest.raises(GraderError, match="should be a plain function, got a lambda"):
        Case("one", lambda draw: {"x": draw.normal(3)}, scenario=lambda f, x: f(x))
    with pytest.raises(GraderError, match="an oracle needs cases"):
        Answer("f(x)", oracle=abs)


def test_class_needs_scenarios() -> None:
    one = Case("one", lambda draw: {"x": draw.normal(3)})
    with pytest.raises(GraderError, match="Pair: a class's cases and budgets need a scenario: one"):
        Answer("class Pair(a)", oracle=tuple, cases=(one,))
    budget = Budget("large", {"n": (4, 16)}, lambda draw, n: {"x": draw.normal(n)})
    with pytest.raises(GraderError, match="need a scenario: large"):
        Answer("class Pair(a)", oracle=tuple, cases=(replace(one, scenario=with_torch),), budgets=(budget,))
    with pytest.raises(GraderError, match="f: only a module's cases may be without inputs: none"):
        Answer("f(x)", oracle=abs, cases=(one, Case("none", None, raises=ValueError)))


def test_scenario_takes_no_module_with_a_forward() -> None:
    case = Case("one", lambda draw: {"x": draw.normal(3)}, scenario=with_torch)
    module = Answer("f()", oracle=abs, forward="forward(x)", parameters=lambda: {"w": (3,)}, cases=(case,))
    with pytest.raises(
        GraderError, match=r"scenario with_torch should take functions and classes, .*: declare it as .class f"
    ):
        Grader((module,))


@pytest.mark.parametrize("value", [(torch.ones(2),), {"a": 1}, [(1, 2)], math.inf, b"a", torch.float32])
def test_input_that_would_not_arrive_as_it_is_is_refused(value: Any) -> None:
    refuse_inputs("one", {"x": torch.ones(2), "y": [1, [None, "a"]], "z": (1, 2.0)})
    with pytest.raises(GraderError, match="input x of one should be a tensor, a number, a text, or a list or tuple"):
        refuse_inputs("one", {"x": value})


@pytest.mark.parametrize("value", [b"a", {1: 2}, {"a": {1, 2}}, list(range(10_001)), [[[[[[[1]]]]]]]])
def test_result_that_no_submission_could_give_back_is_refused(value: Any) -> None:
    refuse_result("one", {"a": [torch.ones(2), (1, None)], "b": [[[["text", 1.5]]]]})
    with pytest.raises(GraderError, match="the oracle's result of one should be tensors, numbers, texts"):
        refuse_result("one", value)


def test_forms_of_results() -> None:
    made: Returned = ([1.5, 2], {"a": (None, "b")}, True)
    assert [*leaves_of(made)] == ["item 1 of output 1", "item 2 of output 1", "output 1 of a of output 2",
                                  "output 2 of a of output 2", "output 3"]  # fmt: skip
    assert in_words(made) == "a tuple of (a list of (a float, an int), a dict of a, a bool)"
    assert in_words([1.0, 2.0]) == "a list of 2 floats"
    assert in_words([("a", 1.0)] * 9) == "a list of 9 items, each a tuple of (a string, a float)"
    assert other_form([1, 2.0], [1.0, 2.0]) is None
    assert other_form([True], [1.0]) == ("item 1", True, 1.0)
    assert other_form([1.0], (1.0,)) == ("the output", [1.0], (1.0,))
    assert other_form({"a": 1}, {"b": 1}) == ("the output", {"a": 1}, {"b": 1})
    assert other_form({"a": 1, "b": 2}, {"b": 2, "a": 1}) is None
    assert other_form({"a": (1, "b")}, {"a": (1, 2)}) == ("output 2 of a", "b", 2)


def test_list_of_whole_numbers_and_texts_is_one_value() -> None:
    ids: Returned = {"ids": [97, 256], "merges": [(97, 98)], "texts": ["a"], "none": [], "others": [1, None]}
    assert [*leaves_of(ids)] == ["ids", "merges", "texts", "none", "item 1 of others", "item 2 of others"]
    assert other_form([97], [97, 256]) is None
    assert other_form([], [97]) is None
    assert other_form([97.0], [97]) == ("item 1", 97.0, 97)
    assert other_form([97], [None]) == ("item 1", 97, None)
    assert other_form((97,), [97]) == ("the output", (97,), [97])
    assert leaves_of([1, 2], like=[1.0, 2.5]) == {"item 1": 1, "item 2": 2}  # whole numbers for others


def test_texts_and_lists_that_differ_are_shown_from_there() -> None:
    assert first_difference([97, 98], [256]) == "should be [256], got [97, 98]"
    assert first_difference(1, "a") == "should be 'a', got 1"
    long = [*range(100, 200)]
    assert first_difference(long, [*long[:50], 7, 8]) == (
        "should be [146, 147, 148, 149, 7, 8] from index 46 on, got "
        "[146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161]; 52 in all, got 100"
    )
    assert first_difference("é" * 120 + "a", "é" * 121) == "should be 'ééééé' from index 116 on, got 'éééé\x61'"
    assert first_difference(long, long[:99]).endswith("; 99 in all, got 100")


def test_calls_that_differ_are_shown_beside_what_they_should_be() -> None:
    """The second slot stands idle in the second call, and its text comes in a call more."""
    wanted = [[[1, 2], [4]], [[1, 2, 5], [4, 4]], [[1, 2, 5, 6]]]
    assert first_difference([wanted[0], [[1, 2, 5]], wanted[2], [[4, 4]]], wanted) == (
        "should be [[1, 2, 5], [4, 4]] in row 2, got [[1, 2, 5]]; 3 rows in all, got 4\n"
        "       should be    got\n"
        "    1  1 2 | 4      1 2 | 4\n"
        ">   2  1 2 5 | 4 4  1 2 5 | –\n"
        "    3  1 2 5 6      1 2 5 6\n"
        ">   4  no more      4 4"
    )
    many = [[i] for i in range(20)]
    lines = first_difference([*many[:10], [0] * 30, *many[11:]], many).splitlines()
    assert lines[2:5:2] == ["    9  8                             8", f">  11  10{' –' * 12} …  {'0 ' * 13}0…"]
    assert (len(lines), lines[-1]) == (10, "    …")
    row = [[*range(9)], [*range(9, 20)], []]
    assert (
        first_difference([row[:1]], [row]).splitlines()[-1]
        == ">   1  0 1 … 8 | 9 10 … 19 | []  0 1 2 3 4 5 6 7 8 | – | –"
    )
    assert first_difference([], [[0], [1]]).startswith("should be [0] in row 1, got no more; 2 rows in all, got 0\n")


def test_number_of_calls_and_of_their_rows_is_held_against_a_limit() -> None:
    assert within("op", [4, 2, 1], calls=3, in_all=7) == ""
    assert within("op", [1] * 9, calls=8, in_all=9) == (
        "calls of op: should be at most 8, got 9, of 1, 1, 1, 1, 1, 1, 1, … rows"
    )
    assert within("op", [4, 4], calls=8, in_all=7) == "rows in all calls of op: should be at most 7, got 8: 4 + 4"

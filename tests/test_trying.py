"""A call that is tried: both answers are called, caged as ever, and nothing is judged."""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.desk import trying
from graders.desk.trying import Tried
from graders.faults import ROOT, UsageError
from graders.judge.as_python import MOST_WRITTEN, as_python, failing_call, written
from graders.judge.results import Result
from graders.judge.warm import WarmJudge
from graders.sandbox import submission
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.messages import Request
from tests.toys import MODULE_REFERENCE, REFERENCE, make_repository

WRONG = REFERENCE.replace("x / (1 / factor)", "x / factor")


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    made = new_launcher()
    yield made
    made.close()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("trying"))


@pytest.fixture
def scale(root: Path) -> Kata:
    return katas.find_one("scale", root)


def tried(launcher: Launcher, kata: Kata, text: str, answer: str = REFERENCE) -> Tried:
    return trying.tried(launcher, kata, Source(answer, f"{kata.id}.py"), text)


def test_value_shape_dtype_and_what_is_printed_are_shown_beside_what_is_expected(
    launcher: Launcher, scale: Kata
) -> None:
    text = 'print("seen")\nx = torch.ones(1, 2)\nscale(x, 4.0), 3, {"half": x.half()}'
    made = tried(launcher, scale, text, WRONG)
    assert made.yours.startswith("output 1: (1, 2) float32\ntensor([[0.2500, 0.2500]])\noutput 2: 3\nhalf of output 3")
    assert made.expected.startswith("output 1: (1, 2) float32\ntensor([[4., 4.]])\n")
    assert (made.agree, made.printed) == (False, "seen")
    assert made.differs == "output 1: 2 of 2 differ; worst at [0, 0]: should be 4, got 0.25"
    assert tried(launcher, scale, text).agree
    assert tried(launcher, scale, "x = 3").yours == "None"


def test_a_result_of_another_form_or_dtype_differs(launcher: Launcher, scale: Kata) -> None:
    double = REFERENCE.replace("x / (1 / factor)", "(x / (1 / factor)).double()")
    assert tried(launcher, scale, "scale(torch.ones(2))", double).differs.endswith("should be float32, got float64")
    twice = REFERENCE.replace("return x / (1 / factor)", "return x, x")
    assert tried(launcher, scale, "scale(torch.ones(2))", twice).differs.endswith("got a tuple of 2 tensors")
    assert tried(launcher, scale, "str(scale(1.0))", WRONG).differs.endswith("should be '2.0', got '0.5'")


def test_random_numbers_are_the_same_for_both(launcher: Launcher, scale: Kata) -> None:
    assert tried(launcher, scale, "scale(torch.randn(3))").agree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scale(3.0)", "ZeroDivisionError: float division by zero (line 10: `return x / 0`)"),
        ("one = 1\nscale(absent)", "NameError: name 'absent' is not defined (line 2 of the try: `scale(absent)`)"),
        ("one = 1\nscale(", "SyntaxError: '(' was never closed (line 2 of the try: `scale(`)"),
    ],
)
def test_an_exception_names_the_line_of_the_answer_or_of_the_try(
    launcher: Launcher, scale: Kata, text: str, said: str
) -> None:
    made = tried(launcher, scale, text, REFERENCE.replace("x / (1 / factor)", "x / 0"))
    assert made.yours == said
    assert "line" not in made.expected
    assert made.agree == ("ZeroDivision" not in said)


def test_both_refuse_alike(launcher: Launcher, scale: Kata) -> None:
    made = tried(launcher, scale, "scale(3.0, 0)", REFERENCE.replace("should not be", "is"))
    assert made.expected == "ValueError: factor should not be 0, got 0"
    assert made.agree
    accepts = tried(launcher, scale, "scale(3.0, 0)", "def scale(x, factor):\n    return x")
    assert accepts.verdict == "not as expected: should be ValueError, got a result"


def test_an_endless_loop_ends_and_the_expected_is_shown(
    launcher: Launcher, scale: Kata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "LIMIT_SECONDS", 0.4)
    made = tried(launcher, scale, "scale(3.0)", "def scale(x):\n    while True:\n        x = x + 1\n")
    assert made.yours.startswith("the call did not return in 0.4 s (line ")
    assert (made.expected, made.agree) == ("6.0", False)
    made = tried(launcher, scale, "while True:\n    pass")
    assert "of the try: `" in made.yours
    assert made.expected == "the reference gives no result either"


def test_what_the_kata_bans_is_refused(launcher: Launcher, scale: Kata) -> None:
    for text, answer in (
        ("torch.mul(1, 2)", REFERENCE),
        ("scale(1)", "import torch\ndef scale(x): return torch.mul(x, 2)"),
    ):
        made = tried(launcher, scale, text, answer)
        assert "mul is not allowed in this kata, but is called (line " in made.yours
        assert not made.agree


def test_without_a_reference_nothing_is_expected(launcher: Launcher, tmp_path: Path) -> None:
    kata = katas.find_one("scale", make_repository(tmp_path))
    kata.reference_file.unlink()
    made = tried(launcher, kata, "scale(3.0)")
    assert (made.yours, made.expected, made.verdict) == ("6.0", "", "not compared: there is no reference here")


def test_what_cannot_be_read_or_is_too_long_is_told(launcher: Launcher, scale: Kata) -> None:
    absent = Source("", "scale.py", "is not there")
    assert trying.tried(launcher, scale, absent, "scale(1)").yours == "scale.py is not there"
    assert "cannot be imported: NameError" in tried(launcher, scale, "scale(1)", "absent").yours
    with pytest.raises(UsageError, match="nothing to try"):
        tried(launcher, scale, "\n  # scale(1)\n")
    with pytest.raises(UsageError, match=r"at most 50,000 characters, got 50,001; shorten it"):
        tried(launcher, scale, "1" * 50_001)


def judged(launcher: Launcher, kata: Kata, answer: str) -> Result:
    judge = WarmJudge(launcher)
    try:
        return judge.grade(kata, Source(answer, f"{kata.id}.py"), diagnosed=False)
    finally:
        judge.close()


def test_failing_calls_are_written_as_python_that_fails_again(launcher: Launcher, root: Path, scale: Kata) -> None:
    affine = katas.find_one("affine", root)
    swapped = MODULE_REFERENCE.replace("self.linear(x)", "2 * self.linear(x)")
    detached = REFERENCE.replace("return x", "x = getattr(x, 'detach', lambda: x)()\n    return x")
    for kata, answer in ((scale, WRONG), (scale, detached), (affine, swapped)):
        assert answer not in (REFERENCE, MODULE_REFERENCE)
        result = judged(launcher, kata, answer)
        call = failing_call(result, kata)
        made = tried(launcher, kata, call, answer)
        assert made.agree is False, (call, made)
        assert tried(launcher, kata, call, kata.reference_file.read_text()).agree


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[0.1, -1e-30, math.inf], [2.0, -0.0, 1 / 3]]),
        torch.tensor([0.1, 1 / 3, math.nan], dtype=torch.float64),
        torch.tensor([0.1, 65504.0], dtype=torch.float16),
        torch.tensor([0.1, 3e38], dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.tensor(7),
        torch.tensor([1, -2], dtype=torch.int32),
        torch.empty(2, 0, dtype=torch.float64),
    ],
    ids=lambda value: str(value.dtype),
)
def test_a_tensor_is_written_to_the_last_bit(value: torch.Tensor) -> None:
    again = eval(written(value), {"torch": torch})
    torch.testing.assert_close(again, value, rtol=0, atol=0, equal_nan=True)
    assert (again.shape, again.dtype) == (value.shape, value.dtype)


def test_a_call_that_cannot_be_written_says_why() -> None:
    large = Request("scale", ("scale",), {"x": torch.zeros(MOST_WRITTEN + 1)}, 1)
    small = dataclasses.replace(large, arguments={"x": torch.zeros(1), "ranks": [0, 1]})
    assert as_python(large, gradients=True).startswith("# the failing call's tensors are too large")
    assert as_python(small, gradients=True).startswith("# the failing call is made on several ranks")


def test_the_statements_example_is_offered(launcher: Launcher) -> None:
    softmax = katas.find_one("softmax", ROOT)
    offered = trying.example(softmax)
    assert offered.endswith("\nlog_softmax(x), softmax(x, dim=0)")
    assert tried(launcher, softmax, offered, softmax.reference_file.read_text()).agree
    assert "backward" not in trying.example(katas.find_one("activations", ROOT))  # which this kata bans
    assert "nox -s run -- ring_all_reduce --case" in trying.example(katas.find_one("ring_all_reduce", ROOT))
    for kata in katas.all_katas(ROOT):
        ast.parse(trying.example(kata))

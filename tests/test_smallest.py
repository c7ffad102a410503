"""The smallest failing call: made of what the contract allows, true, and nobody waits for it."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
import torch

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.desk import trying
from graders.desk.state import State
from graders.desk.verdicts import AnswerFile, Verdict, Verdicts
from graders.faults import GraderError
from graders.judge import smallest as search
from graders.judge.briefly import both_in_brief
from graders.judge.process import Found, Job, do
from graders.judge.run import Options
from graders.judge.simpler import Inputs, like_at_first
from graders.judge.smallest import Smallest, smallest
from graders.judge.warm import WarmJudge
from graders.kata.tolerances import Tolerance
from graders.sandbox.launcher import new_launcher
from tests.toys import MODULE_REFERENCE, REFERENCE

RIGHT = "x / (1 / factor)"
WRONG = REFERENCE.replace(RIGHT, "x / factor")
SLEEPS = WRONG.replace("return", "if x.numel() == 1:\n        import time\n        time.sleep(9)\n    return")
SAMPLE = os.environ["KATAS_SAMPLE"]  # as in tests/conftest.py; set it to repeat a failure
MISTAKEN = random.Random(SAMPLE).sample(katas.all_katas(), 4)
DOUBLED = REFERENCE.replace(f"return {RIGHT}", f"y = {RIGHT}\n    return y + y - getattr(y, 'detach', lambda: y)()")


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmJudge]:
    monkeypatch.setattr(search, "MOST_SECONDS", 60.0)  # the machine may be busy
    made = WarmJudge(new_launcher())
    assert made.launcher.isolation
    yield made
    made.close()
    made.launcher.close()


def shrunk(judge: WarmJudge, kata: Kata, answer: str) -> Smallest | None:
    result = judge.grade(kata, Source(answer, f"{kata.id}.py"), diagnosed=False)
    return smallest(kata, result, judge.launcher)


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("scale", WRONG, "scale(x=[1]) gives [0.5], should be [2]"),
        ("scale", REFERENCE.replace("return x", "return x[0]"), "scale(x=[0]) gives 0, should be [0]"),
        ("scale", REFERENCE.replace("return x", "return x, x"), "scale(x=[0]) gives a tuple of 2 tensors, should be a tensor"),  # noqa: E501
        ("scale", REFERENCE.replace("return x", "return absent"), "scale(x=[0]) raises NameError, should return"),
        ("scale", REFERENCE.replace("== 0", "== 7"), "scale(x=[0], factor=0) raises ZeroDivisionError, should raise ValueError"),  # noqa: E501
        ("scale", DOUBLED, "pulled back from ones, scale(x=[0]) gives x.grad = [4], should be [2]"),
        (
            "affine",
            MODULE_REFERENCE.replace("self.linear(x)", "2 * self.linear(x)"),
            "Affine(width=1)(x=[[0]]) with all parameters 1 gives output 1 = [[2]], should be [[1]]",
        ),
    ],
    ids=("values", "shape", "form", "raises", "refusal", "gradients", "module"),
)  # fmt: skip
def test_inputs_get_small_and_plain(toys: Path, judge: WarmJudge, name: str, answer: str, told: str) -> None:
    assert answer not in (REFERENCE, MODULE_REFERENCE)
    kata = katas.find_one(name, toys)
    found = shrunk(judge, kata, answer)
    assert found
    assert found.text == told


def changed(kata: Kata, reference: str, oracle: str = "x * factor") -> Kata:
    """Another kata of the same signature."""
    kata.reference_file.write_text(reference)
    kata.grader_file.write_text(kata.grader_file.read_text().replace("x * factor", oracle))
    return kata


def refusing(reference: str, fewer: int) -> str:
    check = f'    if x.shape[-1] < {fewer}:\n        raise ValueError("x should have more numbers")\n'
    return reference.replace("    return", f"{check}    return")


def test_what_the_reference_refuses_is_not_gone_on_to(toys: Path, judge: WarmJudge) -> None:
    kata = changed(katas.find_one("scale", toys), refusing(REFERENCE, 3))
    found = shrunk(judge, kata, WRONG)
    assert found
    assert found.text == "scale(x=[1, 1, 1]) gives [0.5, 0.5, 0.5], should be [2, 2, 2]"


def test_what_the_oracle_gives_otherwise_is_not_gone_on_to(toys: Path, judge: WarmJudge) -> None:
    """The reference does not refuse few rows, but gives garbage for them."""
    garbage = REFERENCE.replace(f"return {RIGHT}", f"return {RIGHT} if len(x) > 2 else x * 7")
    found = shrunk(judge, changed(katas.find_one("scale", toys), garbage.replace("x * 7", "x + 7")), WRONG)
    assert found
    assert found.request.arguments
    assert len(found.request.arguments["x"]) == 3


LARGEST = "x.sort(-1, descending=True).indices[..., :1] + (x - x).sum() + factor - 2.0"


def test_no_tie_decides(toys: Path, judge: WarmJudge) -> None:
    """Which of two equal numbers is the largest is nobody's to say, so the two stay different."""
    reference = refusing(REFERENCE.replace(RIGHT, LARGEST), 2)
    kata = changed(katas.find_one("scale", toys), reference, oracle=LARGEST)
    found = shrunk(judge, kata, REFERENCE.replace(RIGHT, f"{LARGEST} + 1.0"))
    assert found
    assert found.request.arguments
    assert len({*found.request.arguments["x"].flatten().tolist()}) == 2


def test_probabilities_still_add_up_and_positive_numbers_stay_positive() -> None:
    first = Inputs({"p": torch.tensor([[0.2, 0.7, 0.1]] * 2), "scale": torch.tensor([3.0, 4.0])}, {}, {})
    made = like_at_first(first, Inputs({"p": torch.tensor([[0.2, 0.6]]), "scale": torch.tensor([0.0])}, {}, {}))
    torch.testing.assert_close(made.arguments["p"], torch.tensor([[0.25, 0.75]]))
    assert made.arguments["scale"].tolist() == [1]


@pytest.mark.parametrize(
    ("got", "right", "told"),
    [
        ([0.5, 1.0], [0.5, 1.001], ("[0.5, 1]", "[0.5, 1.001]")),
        ([0.0] * 12 + [2.0], [0.0] * 13, ("2 at [12]", "0")),
        ([10**6] * 12 + [10**6 + 1], [10**6] * 13, ("1000001 at [12]", "1000000")),
        ([0.0] * 13, [[0.0]], ("shape (13,)", "(1, 1)")),
    ],
    ids=("digits", "large", "whole numbers", "shapes"),
)
def test_results_are_told_in_few_words(got: list[float], right: list[float], told: tuple[str, str]) -> None:
    assert both_in_brief(torch.tensor(got), torch.tensor(right), Tolerance(1e-4, 1e-4, 1e-4)) == told


@pytest.mark.parametrize(
    "answer",
    [
        REFERENCE,
        REFERENCE.replace(RIGHT, f"{RIGHT} / (1 - 3e-9)"),  # fails in float64, and differs by rounding
        REFERENCE.replace("x /", "x * factor; x /"),  # a rule is broken
        "absent",
        WRONG.replace("return", "while True:\n        pass\n    return"),
    ],
    ids=("right", "rounding", "rules", "unloadable", "hangs"),
)
def test_there_is_none_where_no_values_are_clearly_wrong(
    toys: Path, judge: WarmJudge, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graders.sandbox.submission.LIMIT_SECONDS", 0.4)
    assert shrunk(judge, katas.find_one("scale", toys), answer) is None


def test_without_a_reference_there_is_none(toys: Path, judge: WarmJudge) -> None:
    kata = katas.find_one("scale", toys)
    result = judge.grade(kata, Source(WRONG, "scale.py"), diagnosed=False)
    kata.reference_file.unlink()
    assert smallest(kata, result, judge.launcher) is None


def test_what_an_earlier_call_has_left_decides_nothing(toys: Path, judge: WarmJudge) -> None:
    """It fails from the second call on, but not alone, as a try makes it."""
    counts = REFERENCE.replace("def scale", "CALLS = []\n\n\ndef scale").replace(
        f"return {RIGHT}", f"CALLS.append(0)\n    return {RIGHT} if len(CALLS) == 1 else x / factor"
    )
    assert shrunk(judge, katas.find_one("scale", toys), counts) is None


@pytest.mark.parametrize("wish", ["a save", "h"])
def test_a_save_or_a_key_ends_it_and_leaves_the_judge_as_it_was(toys: Path, judge: WarmJudge, wish: str) -> None:
    file = AnswerFile(katas.find_one("scale", toys), "web")
    verdicts, state = Verdicts(judge), State(toys)
    file.path.write_text(SLEEPS)
    assert verdicts.of(file, state)
    soon = threading.Timer(1, verdicts.tell, [file if wish == "a save" else wish])
    soon.start()
    assert verdicts.shrink(file) is None
    soon.join()
    assert not judge.interrupted
    assert verdicts.shrink(file) is None  # it still waits
    verdicts.wishes.get()
    file.path.write_text(WRONG)
    verdict = verdicts.of(file, state)
    assert verdict
    assert verdict.smallest is None
    found = verdicts.shrink(file)
    assert found
    assert verdicts.last[file].smallest is found


def test_it_fails_again_where_it_is_tried(toys: Path, judge: WarmJudge) -> None:
    for name, answer in (("scale", WRONG), ("affine", MODULE_REFERENCE.replace("x.sum(-1)", "x.sum(0)"))):
        file = AnswerFile(katas.find_one(name, toys), "web")
        file.path.write_text(answer)
        verdicts = Verdicts(judge)
        assert verdicts.of(file, State(toys))
        assert verdicts.shrink(file)
        made = verdicts.tried(file, verdicts.last[file].failing_call(file.kata))
        assert made.agree is False
        assert trying.tried(
            judge.launcher,
            file.kata,
            Source(REFERENCE if name == "scale" else MODULE_REFERENCE, "a.py"),
            verdicts.last[file].failing_call(file.kata),
        ).agree


@pytest.mark.parametrize("kata", MISTAKEN, ids=lambda kata: f"{kata.id}-KATAS_SAMPLE={SAMPLE}")
def test_that_of_a_known_mistake_fails_where_it_is_tried(judge: WarmJudge, kata: Kata) -> None:
    """Nothing is suppressed here; a few have none."""
    reference = kata.reference_file.read_text(encoding="utf-8")
    chooser = random.Random(f"{SAMPLE} {kata.id}")
    mistake = chooser.choice([one for one in kata.mistakes if not one.slow])
    source = Source(chooser.choice([*mistake.forms(reference).values()]), f"{kata.id}.py")
    result = judge.grade(kata, source, diagnosed=False)
    if found := smallest(kata, result, judge.launcher):
        call = Verdict(datetime.now(), result, smallest=found).failing_call(kata)
        if not call.startswith("#"):
            assert trying.tried(judge.launcher, kata, source, call).agree is False, mistake.name


def test_no_call_leaves_a_judges_process(toys: Path, judge: WarmJudge) -> None:
    """Its tensors would be sent with each verdict."""
    kata, source, told = katas.find_one("scale", toys), Source(WRONG, "scale.py"), list[Found | GraderError]()
    do(Job(kata.id, Options(seed=judge.seed, diagnosed=False), source), kata, judge, 0.0, told.append)
    assert judge.grade(kata, source, diagnosed=False).requests
    assert any(isinstance(one, Found) and one.result.failures for one in told)
    assert not any(isinstance(one, Found) and one.result.requests for one in told)


def test_a_fault_of_ours_costs_its_line_alone(toys: Path, judge: WarmJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    file = AnswerFile(katas.find_one("scale", toys), "web")
    file.path.write_text(WRONG)
    verdicts = Verdicts(judge)
    verdict = verdicts.of(file, State(toys))
    monkeypatch.delattr(search, "steps")
    assert verdict
    assert verdicts.shrink(file) is None
    assert verdicts.last[file] == verdict

"""Answers that are right and cost too much: each budget catches its own, and says where that comes from."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source, read_source
from graders.faults import CheckFailed, GraderError
from graders.judge import budgets
from graders.judge.run import source_of
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.judge.warm import WarmJudge
from graders.kata.spec import Answer, Budget
from graders.sandbox.launcher import Launcher, new_launcher
from graders.sandbox.messages import Reply, Request
from graders.sandbox.submission import Submission
from tests.toys import GRADER, MISTAKES, REFERENCE, failures, grade, make_repository, run

BUDGET = """
            budgets=(
                Budget(
                    "many_rows",
                    sizes={"rows": (64, 1024), "columns": (4, 32)},
                    inputs=lambda draw, rows, columns: {"x": draw.normal(rows, columns)},
                    asks=("loops", "memory", "time"),
                    hints={"rows": "divide all of x at once"},
                ),
            ),
"""
SLOW = """
    Mistake(
        "row_by_row",
        "the rows are scaled one by one; scale x as a whole",
        {"return x / (1 / factor)": "return torch.stack([row / (1 / factor) for row in x])",
         '\"\"\"Scale.\"\"\"': '\"\"\"Scale.\"\"\"\\nimport torch'},
        slow=True,
    ),
)
EQUIVALENT"""
TOP = "import torch\n\n\ndef scale(x, factor=2.0):\n    if factor == 0:\n        raise ValueError('no')\n"
LARGE = "x.numel() > 30_000"
ANSWERS = {
    "right": TOP + "    return x / (1 / factor)\n",
    "many_small_steps": TOP + "    for _ in range(20):\n        x = x + 0\n    return x / (1 / factor)\n",
    "loop_over_rows": TOP + "    return torch.stack([r / (1 / factor) for r in x])\n",
    "loop_without_gradients": TOP
    + "    rows = [x] if x.requires_grad else x[:, None]\n    return torch.cat([r / (1 / factor) for r in rows])\n",
    "loop_without_operators": TOP + "    for _ in range(len(x)):\n        pass\n    return x / (1 / factor)\n",
    "loop_in_threads": TOP.replace("import torch", "import torch\nfrom concurrent.futures import ThreadPoolExecutor")
    + "    with ThreadPoolExecutor(1) as pool:\n"
    "        list(pool.map(lambda i: None, range(len(x))))\n    return x / (1 / factor)\n",
    "loop_in_made_code": TOP + "    exec('for _ in range(len(x)):\\n    pass')\n    return x / (1 / factor)\n",
    "all_pairs": TOP + "    rows = x.reshape(-1, x.shape[-1])\n    pairs = rows[:, None] - rows[None]\n"
    "    return x / (1 / factor) + (pairs.mean() - pairs.mean())\n",
    "burns": TOP + "    max(range(len(x) * 1000, 0, -1), key=str)\n    return x / (1 / factor)\n",
    "burns_in_a_thread": TOP.replace("import torch", "import threading, torch")
    + "    t = threading.Thread(target=max, args=(range(len(x) * 1000, 0, -1),), kwargs={'key': str})\n"
    "    t.start()\n    t.join()\n    return x / (1 / factor)\n",
    "burns_what_it_has_not_seen": TOP + "    key = x.sum().item()\n    if key not in SEEN:\n"
    "        max(range(len(x) * 1000, 0, -1), key=str)\n    SEEN.add(key)\n    return x / (1 / factor)\n\n\n"
    "SEEN = set()\n",
    "wrong_when_large": TOP + f"    return x * 1 if {LARGE} else x / (1 / factor)\n".replace("x * 1", "x + 0"),
    "banned_when_large": TOP + f"    return x * factor if {LARGE} else x / (1 / factor)\n",
    "wrong_and_slow": TOP + "    return torch.stack([row - (1 / factor) for row in x])\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_repository(tmp_path_factory.mktemp("budgets"))
    grader = GRADER.replace("Answer, Case", "Answer, Budget, Case").replace(
        'differentiable=("x",),', f'differentiable=("x",),{BUDGET}'
    )
    (root / "katas/toys/scale/grader.py").write_text(grader)
    (root / "solutions/toys/scale/mistakes.py").write_text(MISTAKES.replace(")\nEQUIVALENT", SLOW))
    return root


@pytest.fixture(scope="module")
def results(root: Path) -> dict[str, Any]:
    return grade(root, "scale", ANSWERS)


def the_failure(result: dict[str, Any]) -> tuple[str, str]:
    ((name, message),) = ((test["name"], test["message"]) for test in result["tests"] if test["state"] == "fail")
    return name, message


@pytest.mark.parametrize("name", ["right", "many_small_steps"])
def test_right_answer_passes_and_its_cost_is_told(name: str, results: dict[str, Any]) -> None:
    assert failures(results[name]) == {}
    (cost,) = results[name]["costs"]
    assert cost["budget"] == "many_rows"
    assert cost["peak"]["own"] >= cost["peak"]["reference"] > 1024 * 32 * 4
    assert cost["operators"]["own"] >= cost["operators"]["reference"] >= 2


def test_a_time_is_only_told_where_it_is_more_than_noise(results: dict[str, Any]) -> None:
    assert "time" not in results["right"]["costs"][0]
    assert results["burns"]["costs"][0]["time"]["own"] > 8


def test_loop_over_an_axis_is_told_with_the_axis_and_named(results: dict[str, Any]) -> None:
    result = results["loop_over_rows"]
    message = failures(result)["performance/many_rows/loops"]
    assert message.startswith("operators: should be at most ")
    assert "they grow with the rows (exponent 0.9" in message
    assert message.endswith("so a Python loop runs over it: divide all of x at once")
    assert {test.split("/")[0] for test in failures(result)} == {"performance"}
    assert result["mistake"] == "row_by_row"
    (time,) = [test for test in result["tests"] if test["name"] == "performance/many_rows/time"]
    assert (time["state"], time["message"]) == ("skipped", "not tested before performance/many_rows/loops passes")


def test_loop_where_no_gradients_are_asked_is_told(results: dict[str, Any]) -> None:
    assert set(failures(results["loop_without_gradients"])) <= {f"performance/many_rows/{a}" for a in ("loops", "time")}
    message = failures(results["loop_without_gradients"])["performance/many_rows/loops"]
    assert message.startswith("operators (float32, under no_grad): should be at most ")


def test_loop_that_runs_no_operator_is_told_with_its_line(results: dict[str, Any]) -> None:
    name, message = the_failure(results["loop_without_operators"])
    assert name == "performance/many_rows/loops"
    assert message.startswith(
        "runs of one line: should be below 32, the length of the shortest axis, got 1,025 (line 7: `for _ in "
    )
    assert "they grow with the rows (exponent 0.99" in message


def test_loop_in_code_made_on_the_way_is_seen(results: dict[str, Any]) -> None:
    assert "got 1,025; they grow with the rows" in the_failure(results["loop_in_made_code"])[1]


def test_loop_in_threads_is_seen(results: dict[str, Any]) -> None:
    message = failures(results["loop_in_threads"])["performance/many_rows/loops"]
    assert message.startswith("runs of one line: should be below 32, the length of the shortest axis, got 1,0")


def test_all_pairs_take_too_much_memory(results: dict[str, Any]) -> None:
    message = failures(results["all_pairs"])["performance/many_rows/memory"]
    assert message.startswith("memory in use: should be at most ")
    assert "it grows with the rows (exponent " in message


@pytest.mark.parametrize("name", ["burns", "burns_in_a_thread", "burns_what_it_has_not_seen"])
def test_time_is_all_that_the_process_takes_on_inputs_it_has_not_seen(name: str, results: dict[str, Any]) -> None:
    check, message = the_failure(results[name])
    assert check == "performance/many_rows/time"
    assert message.startswith("processor time: should be at most 8 times the reference's, got ")


def test_a_reference_that_was_held_up_once_lets_no_slow_answer_pass(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = budgets.ask_reference
    first: dict[bytes, Reply] = {}

    def held_up(reference: Submission, request: Request) -> Reply:
        reply = ask(reference, request)
        late = request.measured == "cost" and first.setdefault(request.message, reply) is reply
        return replace(reply, seconds=reply.seconds + 60) if late else reply

    monkeypatch.setattr(budgets, "ask_reference", held_up)
    path = tmp_path / "burns.py"
    path.write_text(ANSWERS["burns"])
    launcher = new_launcher()
    try:
        judge = WarmJudge(launcher)
        (kata,) = katas.find(["scale"], root)
        failures = judge.grade(kata, source_of(kata, path)).failures
        assert [failed.name for failed in failures] == ["performance/many_rows/time"]
        judge.close()
    finally:
        launcher.close()
    assert first


def test_what_is_known_to_be_slow_is_asked_for_its_cost_alone(root: Path, launcher: Launcher) -> None:
    """Not what grows, in which axis, nor whether all is exact: `prove` asks so, and all where that tells too little."""
    (kata,) = katas.find(["scale"], root)
    vectors, told, asked = TestVectors(kata.id, kata.grader, 1), list[str](), list[set[bytes]]()
    for brief in (True, False):
        own, reference = (
            Submission(Source(text, "answer.py"), kata.grader.names, launcher)
            for text in (ANSWERS["loop_over_rows"], REFERENCE)
        )
        trial = Trial(vectors, own, reference, {})
        trial.brief = brief
        answer = kata.grader.answers[0]
        with pytest.raises(CheckFailed) as failed:
            budgets.loops(answer, answer.budgets[0], trial)
        told.append(str(failed.value))
        asked.append({*own.replies})
        own.close()
        reference.close()
    assert told[1].startswith(told[0] + "; they grow with the rows")
    assert asked[0] < asked[1]


def test_what_is_known_to_be_slow_is_measured_once_where_that_is_far_above_the_limit(
    root: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kata,) = katas.find(["scale"], root)
    answer = kata.grader.answers[0]
    timed = replace(answer.budgets[0], asks=("time",), time=0.5)
    own, reference = (
        Submission(Source(text, "answer.py"), kata.grader.names, launcher) for text in (ANSWERS["burns"], REFERENCE)
    )
    trial = Trial(TestVectors(kata.id, kata.grader, 1), own, reference, {})
    monkeypatch.setattr(budgets, "TestVectors", None)  # by which fresh inputs are drawn
    try:
        with pytest.raises(TypeError):
            budgets.processor_time(answer, timed, trial)
        trial.brief = True
        with pytest.raises(CheckFailed, match=r"should be at most 0\.5 times the reference's"):
            budgets.processor_time(answer, timed, trial)
    finally:
        own.close()
        reference.close()


def test_the_call_that_took_too_long_is_kept_for_the_diagnosis(root: Path, launcher: Launcher) -> None:
    (kata,) = katas.find(["scale"], root)
    answer = kata.grader.answers[0]
    own, reference = (
        Submission(Source(text, "answer.py"), kata.grader.names, launcher) for text in (ANSWERS["burns"], REFERENCE)
    )
    trial = Trial(TestVectors(kata.id, kata.grader, 1), own, reference, {})
    try:
        with pytest.raises(CheckFailed, match="processor time"):
            budgets.processor_time(answer, replace(answer.budgets[0], asks=("time",), time=0.5), trial)
        assert trial.last is not None
        assert trial.last.message in own.replies
    finally:
        own.close()
        reference.close()


@pytest.mark.parametrize(
    ("ratios", "needed"),
    [
        ([1, 1, 1], 3),
        ([20, 17, 99], 3),
        ([9] * 10, 6),
        ([7] * 10, 6),
        ([9, 7, 9, 9, 7, 7, 9, 9, 7, 9], 10),
        ([9, 7, 9, 9, 7, 7, 9, 9, 9, 7], 9),
        ([9, 7] * 5, 10),
    ],
)
def test_times_are_read_until_no_further_one_could_change_on_which_side_their_median_is(
    ratios: list[float], needed: int
) -> None:
    assert next((n for n in range(10) if budgets.enough(ratios[:n], 8)), 10) == needed
    for other in (0.0, 99.0) if 3 < needed < 10 else ():
        ten = [*ratios[:needed], *[other] * (10 - needed)]
        assert (statistics.median(ten) > 8) == (statistics.median(ratios[:needed]) > 8)


def test_answer_should_be_right_at_the_size_that_is_measured(results: dict[str, Any]) -> None:
    messages = failures(results["wrong_when_large"])
    assert messages.pop("performance/many_rows/time").startswith("not tested before ")
    assert set(messages) == {"performance/many_rows/loops", "performance/many_rows/memory"}
    assert all(message.startswith("values: ") for message in messages.values())


def test_rules_hold_at_the_size_that_is_measured(results: dict[str, Any]) -> None:
    message = failures(results["banned_when_large"])["performance/many_rows/loops"]
    assert message.startswith("the rules: mul is not allowed")


def test_cost_of_a_wrong_answer_is_not_asked(results: dict[str, Any]) -> None:
    tests = [test for test in results["wrong_and_slow"]["tests"] if test["category"] == "performance"]
    assert [test["state"] for test in tests] == ["skipped"] * 3
    assert results["wrong_and_slow"]["costs"] == []
    assert results["wrong_and_slow"]["mistake"] is None


def test_card_shows_the_cost_beside_the_reference(root: Path) -> None:
    path = root / "submissions" / "right.py"
    ran = run(root, "grade", "scale", "--submission", str(path))
    assert " operators (reference " in " ".join(ran.out.split())


def test_without_the_reference_there_is_no_budget(tmp_path: Path, root: Path) -> None:
    bare = make_repository(tmp_path)
    (bare / "katas/toys/scale/grader.py").write_text((root / "katas/toys/scale/grader.py").read_text())
    for file in (bare / "solutions/toys/scale").iterdir():
        file.unlink()
    result = grade(bare, "scale", {"right": REFERENCE})["right"]
    assert (result["state"], result["score"]) == ("solved", 100)
    assert not any(test["category"] == "performance" for test in result["tests"])


def test_sizes_too_close_together_are_refused() -> None:
    with pytest.raises(GraderError, match="at least 4 times apart"):
        Budget("many", sizes={"rows": (10, 30)}, inputs=lambda draw, rows: {})


Axes = set[tuple[str, int]]  # an input's name, and the position of the axis
# The table of all pairs of what an input's axis counts would fit into the memory limit -> why that is no gap.
FITTING = {
    ("linear_probe", name, 0): "the reference's scores, rows × classes, take half of it, and fewer classes would let "
    "small batches pass"
    for name in ("train_x", "train_y")
} | {
    ("linear_scan", name, 1): "coefficients differ by sequence and channel: a table of pairs of steps has 8 times as "
    "many numbers as steps squared, which do not fit"
    for name in ("a", "b")
}


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    made = new_launcher()
    yield made
    made.close()


@pytest.mark.parametrize("kata", katas.all_katas(), ids=lambda kata: kata.id)
def test_table_of_all_pairs_of_an_axis_exceeds_the_memory(kata: Kata, launcher: Launcher) -> None:
    """In one budget of each answer at least, unless it is smaller than what the reference itself needs there."""
    file, grader = kata.reference_file, kata.grader
    reference = Submission(read_source(file, file.name), grader.names, launcher, grader.banned)
    vectors, fitting = TestVectors(kata.id, grader, 0), Axes()
    try:
        for answer in grader.answers:
            asked = [all_pairs(vectors, answer, one, reference) for one in answer.budgets if "memory" in one.asks]
            fitting |= Axes().union(*(fit for fit, _ in asked)).difference(*(too_large for _, too_large in asked))
    finally:
        reference.close()
    assert {(kata.id, *axis) for axis in fitting} == {axis for axis in FITTING if axis[0] == kata.id}


def all_pairs(vectors: TestVectors, answer: Answer, budget: Budget, reference: Submission) -> tuple[Axes, Axes]:
    """The axes whose table would fit although the reference needs less, and those whose table would not."""
    budgets.ask_reference(reference, budgets.measured_request(vectors, answer, budget, "", "time"))
    cost = budgets.ask_reference(reference, budgets.measured_request(vectors, answer, budget, None, "cost")).cost
    assert cost is not None
    most = budgets.limit(budget, "peak", cost.peak)
    tensors = {name: one for name, one in vectors.arguments(budget.case(None))[0].items() if isinstance(one, Tensor)}
    tables = {(name, axis): 4 * n * n for name, one in tensors.items() for axis, n in enumerate(one.shape)}
    return {axis for axis, n in tables.items() if cost.peak < n <= most}, {
        axis for axis, n in tables.items() if n > most
    }

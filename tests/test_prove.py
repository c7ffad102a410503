"""Which katas `prove` takes: those of a change, those of a shard."""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

import pytest

from graders.author import altered, bans, forked, shard, wrong
from graders.author.fixed import fixed
from graders.author.proof import Proof
from graders.author.prove import chosen_katas, prove_answers
from graders.catalogue import katas
from graders.catalogue.katas import Kata
from graders.catalogue.source import Source
from graders.faults import UsageError
from graders.judge import checks
from graders.judge.trial import Trial
from graders.judge.vectors import TestVectors
from graders.kata.spec import Arguments
from graders.sandbox import submission as submissions
from graders.sandbox.dialogue import WorkerProcess
from graders.sandbox.launcher import new_launcher
from graders.sandbox.submission import Submission
from tests.toys import GRADER, REFERENCE, make_repository, run, run_within


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Both toys, committed."""
    root = make_repository(tmp_path)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "toys"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True)
    return root


def chosen(root: Path, changed: str | None = "HEAD", part: tuple[int, int] = (1, 1)) -> list[str]:
    options = argparse.Namespace(katas=[], changed=changed, shard=part)
    return [kata.id for kata in chosen_katas(options, root)]


def test_change_in_a_kata_proves_that_kata_alone(history: Path) -> None:
    assert chosen(history) == []
    (history / "solutions/toys/affine/affine.py").write_text("# another reference")
    assert chosen(history) == ["affine"]
    (history / "tests/hostile/scale").mkdir(parents=True)
    (history / "tests/hostile/scale/new.py").write_text("# a cheat that git does not know yet")
    assert chosen(history) == ["scale", "affine"]


def test_a_textbooks_answer_is_of_its_kata(history: Path) -> None:
    (history / "tests/textbook").mkdir(parents=True)
    (history / "tests/textbook/scale.py").write_text("# as a book prints it")
    assert chosen(history) == ["scale"]


def test_a_textbooks_answer_without_the_core_is_told(toys: Path) -> None:
    (toys / "tests/textbook").mkdir(parents=True)
    (toys / "tests/textbook/scale.py").write_text("def scale(x, factor=2.0):\n    return x / factor\n")
    (fault,) = prove_answers(katas.find_one("scale", toys)).faults
    assert fault.startswith("scale should have the core, but fails ['numerics/three_by_five/float64'")


def test_change_in_the_engine_proves_all_and_one_in_a_text_none(history: Path) -> None:
    (history / "README.md").write_text("a text")
    assert chosen(history) == []
    (history / "graders").mkdir()
    (history / "graders/new.py").write_text("")
    assert chosen(history) == ["scale", "affine"]


@pytest.mark.parametrize("reference", ["nowhere", "--output=written"])
def test_unknown_reference_is_refused_in_one_line(history: Path, reference: str) -> None:
    with pytest.raises(UsageError, match=r"git does not know it \([^\n]*\)$"):
        chosen(history, reference)
    assert not (history / "written").exists()


def test_shards_share_the_katas(history: Path) -> None:
    assert [chosen(history, None, (number, 2)) for number in (1, 2)] == [["scale"], ["affine"]]
    assert shard("2/3") == (2, 3)
    for text in ("0/2", "3/2", "1", "a/b"):
        with pytest.raises(argparse.ArgumentTypeError, match="like 1/4"):
            shard(text)


SIZED = """
                Case(
                    "any_size",
                    lambda draw, rows, width: {"x": draw.normal(rows, width), "factor": draw.number(0.5, 2)},
                    sizes={"rows": (2, 9), "width": (2, 9)},
                ),
                Case("no_factor","""


def test_what_no_seed_changes_is_told(toys: Path) -> None:
    (kata,) = katas.find(["scale"], toys)
    assert fixed(kata) == ({"axis 0 of x": "3, 4", "axis 1 of x": "5", "factor": "0.5, -3.0"}, ["scale"])
    text = kata.grader_file.read_text()
    kata.grader_file.write_text(text.replace('Case("no_factor",', SIZED))
    (kata,) = katas.find(["scale"], toys)
    assert fixed(kata) == ({}, [])
    shapes = [given["x"].shape for seed in range(5) for given in any_size(kata, seed)]
    assert len(set(shapes)) > 1
    assert all(rows != width for rows, width in shapes)


def any_size(kata: Kata, seed: int) -> list[Arguments]:
    (case,) = (case for case in kata.grader.answers[0].cases if case.name == "any_size")
    return TestVectors(kata.id, kata.grader, seed).arguments(case)


def test_what_no_seed_changes_needs_a_reason_and_a_pattern_may_give_it() -> None:
    proof = Proof("scale")
    for name in ("axis 0 of x", "axis 1 of x", "factor"):
        proof.count_fixed(name, "3, 4", {"axis * of x": "the page says so"})
    assert proof.fixed == {"the page says so": ["axis 0 of x (3, 4)", "axis 1 of x (3, 4)"]}
    assert proof.faults == ["equal at every seed: factor (3, 4); draw it, or say in FIXED why it stays"]


def test_a_ban_that_matches_nothing_of_torch_is_told() -> None:
    words = ("log_softmax", "lr_scheduler", "autograd", "fuse_attention", "varlen_attn", "logsigmoid", "no_such_thing")
    assert bans.without_effect(words) == ["logsigmoid", "no_such_thing"]


BUILTIN = """
import torch


def scale(x, factor=2.0):
    return {0}
"""
ADDED = "torch.linspace(0, 1, 3, dtype=x.dtype).sum() * x * factor / 1.5"


@pytest.mark.parametrize(
    ("returned", "wrong", "left"),
    [
        ("torch.mul(x, factor)", 0, []),
        ("torch.div(x, 1 / factor)", 0, []),  # as the reference does it
        (ADDED, 0, ["linspace"]),
        ("x.float() * factor", 2, []),
    ],
)
def test_what_torchs_own_answer_gives_and_runs_is_told(toys: Path, returned: str, wrong: int, left: list[str]) -> None:
    (kata,) = katas.find(["scale"], toys)
    (kata.solutions / "builtin.py").write_text(BUILTIN.format(returned))
    launcher = new_launcher()
    vectors = TestVectors(kata.id, kata.grader, 1)
    one = Submission(Source(BUILTIN.format(returned), "builtin.py"), kata.grader.names, launcher)
    try:
        assert len([*bans.wrong_values(Trial(vectors, one, None, {}))]) == wrong
        assert bans.unmatched(kata, vectors) == left
    finally:
        one.close()
        launcher.close()


OWN_TESTS = """

def whole(scale, x):
    return {"listed": [int(one) for one in scale(x, 3.0)]}


def test_all_are_some(submission):
    found = submission.run(whole, x=torch.arange(4.0))["listed"]
    assert {*found} <= {0, 3, 6, 9}, "listed: should be threes"


def test_last(submission):
    found = submission.run(whole, x=torch.arange(4.0))["listed"]
    assert found[3] == 9, "item 3: should be 9"


def noise(scale, n, seed):
    return scale(torch.rand(n, 2, generator=torch.Generator().manual_seed(seed)), 3.0)


def test_size_of_noise(submission):
    most = submission.run(noise, summary=lambda made: made.max(), n=9, seed=1)
    assert most < 3, "the largest: should be below 3"


def test_spread_of_noise(submission):
    fewest = submission.run(noise, summary=lambda made: min(len(c.unique()) for c in (*made.T, *made)), n=9, seed=1)
    assert fewest > 1, "columns and rows: should not be of equal numbers"
"""


def test_own_tests_that_pass_other_rows_than_the_reference_returns_are_told(toys: Path) -> None:
    (kata,) = katas.find(["scale"], toys)
    kata.grader_file.write_text(GRADER + OWN_TESTS)
    launcher = new_launcher()
    right = Submission(Source(REFERENCE, "scale.py"), kata.grader.names, launcher)
    try:
        told = [*altered.survivors(checks.plan(kata.grader, kata.module), TestVectors(kata.id, kata.grader, 1), right)]
    finally:
        right.close()
        launcher.close()
    raised = ", along axis 0, but the result: should be usable"
    assert [one.partition(", got")[0] for one in told] == [
        "numerics/all_are_some passes half of the rows of listed, along axis 0",
        "numerics/all_are_some passes all rows twice of listed, along axis 0",
        "numerics/all_are_some passes no rows of listed, along axis 0",
        f"numerics/last should say what is wrong with half of the rows of listed{raised}",
        "numerics/last passes all rows twice of listed, along axis 0",
        f"numerics/last should say what is wrong with no rows of listed{raised}",
        "numerics/size_of_noise passes one row for all of the result, along axis 0",
        "numerics/size_of_noise passes one row for all of the result, along axis 1",
    ]


def tells(arguments: list[str], root: Path) -> int:
    """A command."""
    print(root.name, *arguments, os.environ)
    os.environ["LEFT"] = "by another"
    raise SystemExit(len(arguments))


def ends(arguments: list[str], root: Path) -> int:
    """Another."""
    os._exit(0)


@pytest.mark.parametrize("command", [("grade",), ("grade", "--nope"), ("status", "--help")])
def test_forked_command_tells_what_one_begun_by_a_user_does(toys: Path, command: tuple[str, ...]) -> None:
    assert run(toys, *command) == run_within((), "", toys, *command)


def test_forked_command_knows_nothing_of_those_before_and_its_end_without_a_word_is_noticed(toys: Path) -> None:
    for status in (1, 2):
        given = ["a"] * status
        ran = forked.run(tells, given, toys, {"ONLY": "this"})
        assert ran == (status, f"{toys.name} {' '.join(given)} environ({{'ONLY': 'this'}})\n", "")
    with pytest.raises(EOFError):
        forked.run(ends, [], toys)


def test_torchs_own_answer_is_held_at_the_budgets_also() -> None:
    """There a scenario passes `dim` by position."""
    (kata,) = katas.find(["cosine_similarity"])
    source = "import functools\nimport torch\n\n"
    source += "cosine_similarity = functools.partial(torch.cosine_similarity, dim=-1)\n"
    launcher = new_launcher()
    one = Submission(Source(source, "builtin.py"), kata.grader.names, launcher)
    try:
        found = [*bans.wrong_values(Trial(TestVectors(kata.id, kata.grader, 1), one, None, {}))]
    finally:
        one.close()
        launcher.close()
    (sentence,) = found
    assert sentence.startswith("builtin.py at many_rows: the call: should return, got TypeError: ")


def test_mutant_that_hangs_is_waited_for_once(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[WorkerProcess] = []
    monkeypatch.setattr(submissions, "LIMIT_SECONDS", 0.5)
    monkeypatch.setattr(WorkerProcess, "line_it_was_on", lambda worker: waited.append(worker))
    launcher = new_launcher()
    assert launcher.isolation
    bench = wrong.Bench(katas.find_one("scale", toys), launcher)
    try:
        state, message = bench.judged(
            REFERENCE.replace("    return", "    while factor != 2:\n        pass\n    return")
        )
    finally:
        bench.close()
        launcher.close()
    assert (state, len(waited)) == ("failing", 1), message
    assert message.endswith("the call: did not return in 0.5 s")

"""The engine's small parts, each by a fact that would break if the part did."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest
import torch

from graders import checks, compare, dialogue, katas, processes, wire
from graders.mistakes import Mistake
from graders.mutants import mutants
from graders.results import Outcome, Result, exit_status
from graders.spec import Answer, Case, Draw, Grader, GraderError, Tolerance, parameters_of
from graders.stub import stub_of
from graders.submission import CheckFailed

TIGHT = Tolerance(1e-6, 0.0, 1e-9)


class Dictated(processes.Spawn):
    """A worker that says where it is letter by letter, while the judge looks."""

    def start(self, connection: socket.socket, stack: IO[str], scratch: str) -> int:
        shared = os.dup(stack.fileno())  # as a forked worker has it: with the place that is written to next

        def speak() -> None:
            for letter in 'File "answer.py", line 3 in scale\n' * 200:
                os.write(shared, letter.encode())
            os.close(shared)

        self.thread = threading.Thread(target=speak)
        return 0

    def stop(self, pid: int) -> str:
        return "stopped"


def test_where_a_late_worker_says_it_is_arrives_whole_while_it_is_being_read() -> None:
    launcher = Dictated()
    late = dialogue.Worker(launcher, "answer.py", limit=1.0)
    launcher.thread.start()
    while launcher.thread.is_alive():
        late.stack.seek(0)
        late.stack.read()
    late.stack.seek(0)
    assert late.stack.read() == 'File "answer.py", line 3 in scale\n' * 200
    assert late.line_it_was_on() == 3
    late.stop()


def through_the_wire(*tensors: torch.Tensor) -> list[torch.Tensor]:
    left, right = socket.socketpair()
    with left, right:
        wire.send(left, wire.pack({"x": 1}, list(tensors)))
        header, got = wire.receive(right)
    assert header == {"x": 1}
    return got


@pytest.mark.parametrize("dtype", list(wire.DTYPES.values()), ids=list(wire.DTYPES))
def test_every_dtype_survives_the_wire(dtype: torch.dtype) -> None:
    sent = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    (got,) = through_the_wire(sent)
    assert got.dtype == dtype
    assert torch.equal(got, sent)


def test_strides_scalars_and_empties_survive_the_wire() -> None:
    strided = torch.arange(12.0).reshape(3, 4).mT
    expanded = torch.arange(3.0)[:, None].expand(3, 4)
    of_one = torch.arange(6.0).as_strided((1, 1), (5, 3), 2)  # contiguous, whatever its strides say
    for sent in (strided, expanded, torch.tensor(2.5), torch.empty(0, 3), of_one):
        (got,) = through_the_wire(sent)
        assert torch.equal(got, sent)
        assert got.is_contiguous() == sent.is_contiguous()


@pytest.mark.parametrize(
    "head",
    [b"", b"[]", b"{}", b'{"header": 1, "tensors": [{}], "sizes": [1]}', b"[" * 100_000,
     b'{"header": 1, "tensors": [{"dtype": "float32", "shape": [9], "stride": null}], "sizes": [4]}'],
)  # fmt: skip
def test_what_is_no_message_is_refused(head: bytes) -> None:
    with pytest.raises(wire.Malformed):
        wire.unpack(head, memoryview(bytearray(8)))


def test_a_message_that_is_too_long_is_refused() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(wire.LENGTHS.pack(1 << 40, 0))
        with pytest.raises(wire.Malformed, match="too long"):
            wire.receive(right)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        ([1.0, 2.0], [1.0, 3.0], "y: 1 of 2 differ; worst at [1]: should be 3, got 2"),
        ([[1.0]], [1.0], "shape of y: should be (1,), got (1, 1)"),
        ([1.0], [1.0, 1.0], "shape of y: should be (2,), got (1,)"),
        ([1.0, float("nan")], [1.0, 2.0], "y: should be 2 at [1], got nan (1 of 2 are NaN)"),
        ([float("inf")], [2.0], "y: should be 2 at [0], got inf (1 of 1 are infinite)"),
        ([2.0], [float("inf")], "y: 1 of 1 differ; worst at [0]: should be inf, got 2"),
        ([float("-inf")], [float("inf")], "y: 1 of 1 differ; worst at [0]: should be inf, got -inf"),
        ([1.00001], [1.0], "y: 1 of 1 differ; worst at [0]: should be 1, got 1.00001"),
    ],
)
def test_comparison_says(got: list[float], expected: list[float], message: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        compare.close("y", torch.tensor(got), torch.tensor(expected), TIGHT)
    assert str(failure.value) == message


def test_equal_infinities_and_nans_agree() -> None:
    same = torch.tensor([float("inf"), float("-inf"), float("nan"), 1.0])
    compare.close("y", same.clone(), same, TIGHT)


def test_scalar_message_has_no_index() -> None:
    with pytest.raises(CheckFailed, match=r"^loss: should be 3, got 2$"):
        compare.close("loss", torch.tensor(2.0), torch.tensor(3.0), TIGHT)


@pytest.mark.parametrize("count", [6, 13, 50, 99, 100])
def test_points_are_whole_and_add_up(count: int) -> None:
    categories = ["contract", "shapes", "numerics", "gradients", "robustness", "rules"]
    shares = checks.share_points([categories[i % 6] for i in range(count)])
    assert sum(shares) == 100
    assert min(shares) >= 1


def test_more_checks_than_points_are_refused() -> None:
    with pytest.raises(GraderError, match="101 checks cannot share 100 points"):
        checks.share_points(["numerics"] * 101)


def answer(*cases: Case, signature: str = "f(x)", differentiable: tuple[str, ...] = ()) -> Answer:
    return Answer(signature, oracle=lambda x: x, cases=cases, differentiable=differentiable)


def case(name: str = "one", raises: bool = False) -> Case:
    return Case(name, lambda draw: {"x": draw.normal(3)}, raises=raises)


def test_graders_that_could_not_grade_are_refused() -> None:
    with pytest.raises(GraderError, match="identifier"):
        case("two words")
    with pytest.raises(GraderError, match="should have inputs"):
        Case("one", None)
    with pytest.raises(GraderError, match="first case"):
        answer(case(raises=True))
    with pytest.raises(GraderError, match="no such inputs: y"):
        answer(case(), differentiable=("y",))
    with pytest.raises(GraderError, match="twice: \\['one'\\]"):
        Grader(answers=(answer(case(), case()),))
    with pytest.raises(GraderError, match="both its forward and its parameters"):
        Answer("F(n)", oracle=lambda x: x, cases=(case(),), forward="(x)")


def test_signature_text_is_read() -> None:
    assert parameters_of("f(x, y, dim=-1, eps=1e-8, w=None)") == {"x": ..., "y": ..., "dim": -1, "eps": 1e-8, "w": None}
    assert parameters_of("(x)") == {"x": ...}


def test_draws_depend_on_seed_and_name_alone() -> None:
    assert torch.equal(Draw(1, "a").normal(4), Draw(1, "a").normal(4))
    assert not torch.equal(Draw(1, "a").normal(4), Draw(2, "a").normal(4))
    assert not torch.equal(Draw(1, "a").normal(4), Draw(1, "b").normal(4))


REFERENCE = """def f(x):
    y = 0
    # --- solution
    # TODO: think,
    # then write.
    y = x  # not a hint
    return y
    # --- end
"""


def test_stub_keeps_the_todo_comments_alone() -> None:
    assert stub_of(REFERENCE) == (
        "def f(x):\n    y = 0\n    # TODO: think,\n    # then write.\n    raise NotImplementedError\n"
    )


@pytest.mark.parametrize("source", ["x = 1\n", "# --- solution\n", "# --- end\n", "# --- solution\n# --- solution\n"])
def test_references_without_their_markers_are_refused(source: str) -> None:
    with pytest.raises(GraderError):
        stub_of(source)


def test_mistake_edits_should_match_once() -> None:
    assert Mistake("m", "…", {"a": "b"}).forms("a c") == {"m": "b c"}
    for reference in ("c", "a a"):
        with pytest.raises(GraderError, match="should occur once"):
            Mistake("m", "…", {"a": "b"}).forms(reference)


def test_each_form_of_a_mistake_is_an_edit_of_the_reference_under_a_name_of_its_own() -> None:
    mistake = Mistake("m", "…", {"a": "b"}, also=({"a": "d"}, {"c": "e"}))
    assert mistake.forms("a c") == {"m": "b c", "m_2": "d c", "m_3": "a e"}
    with pytest.raises(GraderError, match="mistake m_3: 'c' should occur once"):
        mistake.forms("a")


@pytest.mark.parametrize(
    ("source", "mutant"),
    [
        ("a = b + c", "a = b + c -> a = b - c"),
        ("a = b < c", "a = b < c -> a = b <= c"),
        ("a = -b", "a = -b -> a = b"),
        ("a = f(b, c)", "a = f(b, c) -> a = f(c, b)"),
        ("a = f(b, c)", "a = f(b, c) -> a = f(b)"),
        ("a = f(b, dim=1)", "a = f(b, dim=1) -> a = f(b)"),
        ("a = f(b, dim=-1)", "a = f(b, dim=-1) -> a = f(b, dim=-2)"),
        ("a = b.exp()", "a = b.exp() -> a = b"),
        ("a = torch.exp(b)", "a = torch.exp(b) -> a = b"),
        ("a = b\nc = a", "c = a -> (deleted)"),
        ("if a:\n    b = 1", "if a: -> if not a:"),
        ("a = b and c", "a = b and c -> a = b or c"),
        ("a = 0.5", "a = 0.5 -> a = 1.0"),
        ("a = True", "a = True -> a = False"),
        ("a = b == 'mean'", "a = b == 'mean' -> a = b == 'mean?'"),
        ("if a:\n    raise ValueError('x')", "raise ValueError('x') -> (deleted)"),
    ],
)
def test_mutants_are_made(source: str, mutant: str) -> None:
    assert mutant in mutants(source)


def test_mutants_leave_messages_and_docstrings_alone() -> None:
    made = mutants('def f(x: int) -> int:\n    """Doc."""\n    raise ValueError("x" + "y")\n')
    assert list(made) == ["raise ValueError('x' + 'y') -> (deleted)"]


def outcome(state: str, **rest: object) -> Outcome:
    return Outcome("numerics/a", "numerics", state, 50, **rest)  # type: ignore[arg-type]  # any state, any rest


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (["pass", "pass"], "solved"),
        (["pass", "fail"], "failing"),
        (["pass", "timeout"], "failing"),
        (["pass", "error"], "failing"),
        (["pass", "skipped"], "todo"),
        (["pass"], "error"),  # a planned check has not reported
        ([], "error"),
    ],
)
def test_verdicts(states: list[str], verdict: str) -> None:
    result = Result("k", "t", "k.py", planned=2, outcomes=[outcome(state) for state in states])
    assert result.state == verdict


def test_a_graders_fault_outweighs_a_failing_check() -> None:
    failing = Result("k", "t", "k.py", planned=1, outcomes=[outcome("fail")])
    fault = Result("k", "t", "k.py", planned=1, outcomes=[outcome("error", graders_fault=True)])
    assert exit_status([failing]) == 1
    assert exit_status([failing, fault]) == 3


def scores(document: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "results.json"
    path.write_text(document, encoding="utf-8")
    command = [sys.executable, str(katas.ROOT / ".github" / "scores.py"), *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_published_scores_trust_nothing_in_the_document(tmp_path: Path) -> None:
    results = [
        {"kata": "cosine_similarity", "state": "solved", "score": 10**9},
        {"kata": "cosine_similarity", "state": "solved", "score": 100},
        {"kata": "<script>", "state": "solved", "score": 100},
        {"kata": "roc_auc", "state": "| evil |", "score": 100},
    ]
    done = scores(json.dumps({"results": results}), folder=tmp_path)
    assert done.stdout.splitlines()[2:] == ["| cosine_similarity | solved | 100/100 |", "| **all** | | **100/100** |"]
    badge = scores(json.dumps({"results": results}), "--badge", folder=tmp_path)
    assert json.loads(badge.stdout) == {
        "schemaVersion": 1,
        "label": "katas",
        "message": "100/100",
        "color": "brightgreen",
    }


@pytest.mark.parametrize("document", ["", "[]", '{"results": [1]}', '{"results": [{"kata": []}]}'])
def test_published_scores_refuse_what_is_no_document(document: str, tmp_path: Path) -> None:
    done = scores(document, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no results document: ")

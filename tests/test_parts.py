"""The engine's small parts, each by a fact that would break if the part did."""

from __future__ import annotations

import dataclasses
import io
import socket
import subprocess
import threading
import time
from dataclasses import replace

import pytest
import torch
from rich.console import Console

from graders.author.mutants import mutants
from graders.author.proof import DebugRounds, Proof, table
from graders.catalogue.stub import stub_of
from graders.faults import CheckFailed, GraderError
from graders.judge import card, checks, left, listing
from graders.judge.agreement import Agreement, agree, summed
from graders.judge.results import STOPPED, Outcome, Result, exit_status
from graders.judge.vectors import TestVectors
from graders.kata import compare
from graders.kata.diagnoses import COMMON
from graders.kata.draw import Draw
from graders.kata.mistakes import Mistake
from graders.kata.signatures import parameters_of
from graders.kata.spec import CATEGORIES, Answer, Case, Grader
from graders.kata.tolerances import TOLERANCES, Tolerance
from graders.sandbox import dialogue
from graders.sandbox.launcher import Spawn
from graders.sandbox.messages import Raised, Reply, Request, describe_call
from graders.sandbox.returned import Returned
from graders.worker import wire

TIGHT = Tolerance(1e-6, 0.0, 1e-9)
LOOSE = Tolerance(1e-2, 1e-2, 1e-2)


class Dictated(Spawn):
    """A worker that says where it is letter by letter, while the judge looks."""

    def start(self, connection: socket.socket, telling: socket.socket, scratch: str) -> int:
        shared = telling.dup()

        def speak() -> None:
            for letter in '! mul\t7\nFile "answer.py", line 34 in scale\n':
                shared.send(letter.encode())
                time.sleep(0.001)
            shared.close()

        self.speaker = threading.Thread(target=speak)
        self.speaker.start()
        self.process = subprocess.Popen(["sleep", "60"])  # who is asked by a signal
        return self.process.pid

    def stop(self, pid: int) -> str:
        self.process.wait()
        return "stopped"


def test_where_a_late_worker_says_it_is_arrives_whole_while_it_is_being_read() -> None:
    launcher = Dictated()
    late = dialogue.WorkerProcess(launcher, "answer.py", limit=1.0)
    late.process = late.pid
    assert late.line_it_was_on() == 34
    assert late.offences == {"mul": 7}
    launcher.speaker.join()
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
            wire.receive(right, sender=wire.Sender(b"", 1, 1 << 30))
        left.sendall(wire.LENGTHS.pack(10, 1001))
        with pytest.raises(wire.Malformed, match="1,011 bytes is too long"):
            wire.receive(right, sender=wire.Sender(b"", 1, 1000))


@pytest.mark.parametrize("change", ["nothing", "key", "number", "text", "signature"])
def test_a_message_is_its_senders_or_is_refused(change: str) -> None:
    key, number, message = b"k" * wire.KEY, 3, wire.pack({"x": 1}, [torch.ones(3)])
    left, right = socket.socketpair()
    with left, right:
        signature = wire.signature(b"l" * wire.KEY if change == "key" else key, 2 if change == "number" else 3, message)
        wire.send(left, message.replace(b'"x"', b'"y"') if change == "text" else message)
        wire.send(left, bytes(wire.SIGNATURE) if change == "signature" else signature)
        sender = wire.Sender(key, number, 1000)
        if change == "nothing":
            assert wire.receive(right, sender=sender)[0] == {"x": 1}
        else:
            with pytest.raises(wire.Malformed, match="not the worker's own"):
                wire.receive(right, sender=sender)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        ([1.0, 2.0], [1.0, 3.0], "y: 1 of 2 differ; worst at [1]: should be 3, got 2"),
        ([[1.0]], [1.0], "shape of y: should be (1,), got (1, 1)"),
        ([1.0], [1.0, 1.0], "shape of y: should be (2,), got (1,)"),
        ([1.0, float("nan")], [1.0, 2.0], "y: should be 2 at [1], got nan (1 of 2 are NaN)"),
        ([float("inf"), 2.0], [2.0, 2.0], "y: should be 2 at [0], got inf (1 of 2 are infinite)"),
        ([float("inf")], [2.0], "y: should be 2, got inf"),
        ([2.0], [float("inf")], "y: should be inf, got 2"),
        ([float("-inf")], [float("inf")], "y: should be inf, got -inf"),
        ([[1.00001]], [[1.0]], "y: should be 1, got 1.00001"),
    ],
)
def test_comparison_says(got: list[float], expected: list[float], message: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        compare.close("y", torch.tensor(got), torch.tensor(expected), TIGHT)
    assert str(failure.value) == message


@pytest.mark.parametrize(
    ("got", "right", "most", "text"),
    [(0.99995, 1, 3.6e-5, "0.99995"), (0.981, 1, 0.0017, "0.981"), (6.0004, 6, 0, "6.0004"), (45.26, 6, 0, "45.3")],
)
def test_a_number_is_shown_with_the_digits_that_differ(got: float, right: float, most: float, text: str) -> None:
    assert compare.shown(got, right, most) == text


def test_equal_infinities_and_nans_agree() -> None:
    same = torch.tensor([float("inf"), float("-inf"), float("nan"), 1.0])
    compare.close("y", same.clone(), same, TIGHT)


def test_whole_numbers_should_be_equal() -> None:
    counts = torch.tensor([70_003, 2])
    compare.close("y", counts.clone(), counts, TIGHT)
    with pytest.raises(CheckFailed, match=r"^y: 1 of 2 differ; worst at \[0\]: should be 70003, got 70002$"):
        compare.close("y", counts - torch.tensor([1, 0]), counts, LOOSE)


@pytest.mark.parametrize("got", ["2", "nan", "inf"])
def test_scalar_message_has_no_index(got: str) -> None:
    with pytest.raises(CheckFailed, match=rf"^loss: should be 3, got {got}$"):
        compare.close("loss", torch.tensor(float(got)), torch.tensor(3.0), TIGHT)


def test_gradient_of_a_scalar_has_no_index() -> None:
    with pytest.raises(CheckFailed, match=r"^gradient of x: should be finite, got nan$"):
        compare.finite("gradient of x", torch.tensor(float("nan")))


def test_allowed_dtypes_are_listed_once() -> None:
    with pytest.raises(CheckFailed, match=r"^dtype of y: should be float64 or float32, got int64$"):
        compare.same_dtype("y", torch.tensor(1), (torch.float64, torch.float32, torch.float64))


def test_a_call_is_shown_with_the_dtypes_of_all_tensors() -> None:
    x, mask = torch.zeros(5, 7, dtype=torch.bfloat16), torch.zeros(5, dtype=torch.bool)
    assert describe_call("f", None, {"x": x, "mask": mask, "dim": 1}) == "f(x[5, 7] bfloat16, mask[5] bool, dim=1)"


def test_a_call_with_a_long_text_is_shown_with_its_beginning() -> None:
    shown = describe_call("encode", None, {"text": "abcd " * 50_000})
    assert shown == f"encode(text='{('abcd ' * 20)[:99]}… (250,002 characters))"


def raising(kind: str, refusal: bool = True) -> Reply:
    return Reply(raised=Raised(kind, refusal, "", 3))


def test_to_the_diagnosis_assert_and_value_error_are_one_reply() -> None:
    value, own = raising("ValueError"), raising("Mine")
    assert agree(value, raising("AssertionError"), TIGHT)
    assert agree(own, raising("AssertionError"), TIGHT)
    assert not agree(value, raising("KeyError", refusal=False), TIGHT)
    assert not agree(value, Reply(), TIGHT)


def test_random_results_agree_by_their_summary_where_there_is_one() -> None:
    asked = Request(target="draw", answers=("draw",), arguments={}, positional=0, summary=lambda made: made.mean())
    one, other = Reply(result=torch.tensor([1.0, 3.0])), Reply(result=torch.tensor([2.0, 2.0]))
    assert not agree(one, other, TIGHT)
    assert agree(summed(asked, one), summed(asked, other), TIGHT)
    text = Reply(result="no numbers")
    assert summed(asked, text) is text


def test_random_results_of_another_form_agree_by_what_is_wrong_with_it() -> None:
    def form(request: Request, result: Returned) -> None:
        assert isinstance(result, torch.Tensor)
        compare.same_shape("the output", result, torch.zeros(2))

    asked = Request("draw", ("draw",), {}, 0, form=form, summary=lambda made: made.mean())
    one, other, third = (Reply(result=torch.tensor(made)) for made in ([1.0], [2.0], [1.0, 2.0, 3.0]))
    assert agree(summed(asked, one), summed(asked, other), TIGHT)
    assert not agree(summed(asked, one), summed(asked, third), TIGHT)
    assert not agree(summed(asked, other), summed(asked, Reply(result=torch.tensor([2.0, 2.0]))), TIGHT)


def test_gradients_that_need_only_be_finite_agree_if_both_are_or_neither_is() -> None:
    asked = Request(target="f", answers=("f",), arguments={}, positional=0, rough=True)
    one, other, lost = (Reply(gradients={"x": torch.tensor([value])}) for value in (0.1, -0.3, torch.nan))
    assert not agree(one, other, TIGHT)
    assert agree(summed(asked, one), summed(asked, other), TIGHT)
    assert not agree(summed(asked, one), summed(asked, lost), TIGHT)
    assert not agree(summed(asked, one), summed(asked, Reply(gradients={"x": None})), TIGHT)


def test_replies_are_compared_at_the_tolerance_of_what_came_back() -> None:
    grader = Grader(
        answers=(
            Answer("f(y)", oracle=lambda y: y, cases=(Case("one", lambda draw: {"y": draw.integers(3, high=9)}),)),
        )
    )
    asked = Request("f", ("f",), {"y": torch.tensor([1, 2])}, 1)
    both = Agreement(grader)
    assert both.tolerance(asked, Reply(result=torch.zeros(2))) == TOLERANCES[torch.float32]
    assert both.tolerance(asked, Reply(result=torch.zeros(2).double())) == TOLERANCES[torch.float64]
    assert both.tolerance(asked, Reply()) == TOLERANCES[torch.float64]


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


def case(name: str = "one", raises: type[ValueError] | None = None) -> Case:
    return Case(name, lambda draw: {"x": draw.normal(3)}, raises=raises)


def test_graders_that_could_not_grade_are_refused() -> None:
    with pytest.raises(GraderError, match="identifier"):
        case("two words")
    with pytest.raises(GraderError, match="should have inputs"):
        Case("one", None)
    with pytest.raises(GraderError, match="should be typical"):
        answer(case(raises=ValueError))
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


def test_proofs_can_be_read_in_a_narrow_terminal() -> None:
    shown = Console(file=io.StringIO(), width=40)
    shown.print(table([Proof("multi_head_attention", right=12, accepted=12, faults=["a", "b"])]))
    assert isinstance(shown.file, io.StringIO)
    lines = shown.file.getvalue().splitlines()
    assert lines[0].strip() == "multi_head_attention"
    assert " ".join(shown.file.getvalue().split()).endswith("named 0/0, usual 0/0, mutants 0/0, 2 FAULTS")
    assert max(map(len, lines)) <= 40


def test_proofs_of_a_long_name_fit_in_80_columns() -> None:
    shown = Console(file=io.StringIO(), width=80)
    full = Proof("learnable_temperature", 10, 10, 110, 110, 110, 10, 10, 100, 100, 100, 100, DebugRounds(30, 3, 3))
    shown.print(table([dataclasses.replace(full, checks=100, core=40)]))
    assert isinstance(shown.file, io.StringIO)
    assert len(shown.file.getvalue().splitlines()) == 2


def test_stub_keeps_the_todo_comments_alone() -> None:
    assert stub_of(REFERENCE) == (
        "def f(x):\n    y = 0\n    # TODO: think,\n    # then write.\n    raise NotImplementedError\n"
    )


def test_stub_imports_torch_where_the_reference_uses_parts_of_it() -> None:
    for parts in ("from torch import Tensor\n", "import torch.nn.functional as F\nfrom torch import Tensor\n"):
        assert stub_of(parts + REFERENCE).startswith("import torch\n" + parts)
        assert stub_of("import torch\n" + parts + REFERENCE).count("import torch\n") == 1


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("scale(x[3] float64, factor=0)  # seed 1", "x[3], factor=0"),
        ("scale(0, x[3] float64)  # seed 1", "0, x[3]"),
        ("Heads(embed_dim=10, num_heads=4)  # seed 1", "embed_dim=10, num_heads=4"),
        ("Tower(width=2)(user[3, 2] float64, ids=[1])  # seed 1", "user[3, 2], ids=[1]"),
    ],
)
def test_a_refusal_that_is_missing_is_shown_by_its_arguments(call: str, shown: str) -> None:
    message = "the call: should raise ValueError, got a result"
    refused = Outcome("contract/refused", "contract", "fail", 1, message, call)
    assert left.call_of(refused) == f"refused: {shown}"


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
    mistake = Mistake("m", "…", {"a": "b"}, {"a": ["d", "f"], "c": "e"})
    assert mistake.forms("a c") == {"m": "b c", "m_2": "d e", "m_3": "f e"}
    with pytest.raises(GraderError, match="mistake m_2: 'c' should occur once"):
        mistake.forms("a")


@pytest.mark.parametrize(
    ("old", "new", "made"),
    [
        ("p = …", "p = (…) / 2", "p = (x + y) / 2  # (N,)\nq = f(p, 1)"),
        ("p = …", "p = y", "p = y  # (N,)\nq = f(p, 1)"),
        ("f(…, 1)", "f(-…, 2)", "p = x + y  # (N,)\nq = f(-p, 2)"),
        ("p = …\nq = f(", "q = f(…, ", "q = f(x + y  # (N,), p, 1)"),
        ("q = f(p, 1)", "q = …", "p = x + y  # (N,)\nq = …"),
    ],
)
def test_an_ellipsis_in_an_edit_is_what_stands_there(old: str, new: str, made: str) -> None:
    assert Mistake("m", "its sentence", {old: new}).forms("p = x + y  # (N,)\nq = f(p, 1)") == {"m": made}


def test_a_mistake_of_many_katas_has_its_sentence_from_its_name() -> None:
    mistake = Mistake("hidden_by_1e9", {"-inf": "-1e9"}, slow=True)
    assert (mistake.diagnosis, mistake.forms("-inf")) == (COMMON["hidden_by_1e9"], {"hidden_by_1e9": "-1e9"})
    with pytest.raises(GraderError, match="mistake of_one_kata: should have a sentence"):
        Mistake("of_one_kata", {"-inf": "-1e9"})


def test_what_an_ellipsis_follows_should_occur_once() -> None:
    with pytest.raises(GraderError, match="'p = …' should occur once in the reference, got 2"):
        Mistake("m", "its sentence", {"p = …": "p = 1"}).forms("p = 2\np = 3")


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
    ],
)
def test_mutants_are_made(source: str, mutant: str) -> None:
    assert mutant in mutants(source)


def test_mutants_leave_messages_and_docstrings_alone() -> None:
    assert not mutants('def f(x: int) -> int:\n    """Doc."""\n    raise ValueError("x" + "y")\n')


def outcome(state: str, name: str = "numerics/a", **rest: object) -> Outcome:
    return Outcome(name, name.partition("/")[0], state, 50, **rest)  # type: ignore[arg-type]  # any state, any rest


def result(*outcomes: Outcome, **rest: object) -> Result:
    return Result("k", "t", "k.py", planned=len(outcomes), outcomes=[*outcomes], **rest)  # type: ignore[arg-type]


CALLED = "the rules: torch.mul is not allowed in this kata, but is called (line 3: `x.mul(y)`)"


def test_what_a_forbidden_call_made_earns_nothing() -> None:
    passed = [outcome("pass", f"{category}/a") for category in CATEGORIES if category != "rules"]
    found = result(*passed, outcome("fail", "rules/calls", message=CALLED))
    earned = {test["category"]: test["score"] for test in found.document()["tests"]}
    assert earned == {category: 50 if category in ("contract", "shapes") else 0 for category in CATEGORIES}
    assert (found.score, found.document()["score"]) == (100, 100)
    assert [test["status"] for test in found.document()["tests"]].count("pass") == len(passed)


def test_a_check_on_a_gpu_has_no_points_and_takes_none() -> None:
    on_gpu = replace(outcome("fail", "rules/calls/cuda", message=CALLED), points=0)
    assert result(outcome("pass"), on_gpu).score == 50


def test_a_forbidden_call_where_the_cost_is_measured_counts_as_much() -> None:
    found = result(outcome("pass"), outcome("pass", "rules/calls"), outcome("fail", "performance/a", message=CALLED))
    assert found.score == 0


def test_other_failures_cost_their_own_points() -> None:
    assert result(outcome("pass"), outcome("fail", "rules/calls", message="the call: should return, …")).score == 50


def test_the_first_failure_is_the_one_to_look_at_first() -> None:
    failed = [outcome("fail", f"contract/{order.name}", order=order) for order in reversed(checks.Order)]
    for order in checks.Order:
        first = result(*failed).first_failure
        assert first is not None
        assert first.order == order
        failed.pop()
    broken = outcome("fail", "performance/a", message=CALLED, order=checks.Order.COST)
    signature = outcome("fail", "contract/signature", order=checks.Order.SIGNATURE)
    assert result(signature, broken).first_failure == broken
    assert result(signature, broken).document()["first_failure"] == "performance/a"
    fault = outcome("error", order=checks.Order.COST, graders_fault=True)
    assert result(signature, broken, fault).first_failure == fault
    core = replace(outcome("fail", "gradients/b/float64", order=checks.Order.CASES), core=True)
    edge = outcome("fail", "shapes/a", order=checks.Order.TYPICAL)
    assert result(edge, core).first_failure == core
    assert result(edge, core, broken).first_failure == broken


def test_checks_are_looked_at_in_this_order() -> None:
    cases = (
        Case("unusual", lambda draw: {"x": draw.normal(3)}, core=False, gradients="none"),
        Case("typical", lambda draw: {"x": draw.normal(3)}),
        Case("refused", lambda draw: {"x": draw.normal(3)}, raises=ValueError),
        Case("huge", lambda draw: {"x": draw.normal(3)}, category="robustness", dtypes=(torch.float64,)),
        Case("other", lambda draw: {"x": draw.normal(3)}, dtypes=(torch.float64,)),
        Case("more", lambda draw: {"x": draw.normal(3)}, dtypes=(torch.float64,)),
    )
    planned = checks.plan(Grader(answers=(answer(*cases, differentiable=("x",)),)))
    found = result(*(outcome("fail", one.name, order=one.order) for one in planned))
    looked_at = []
    while first := found.first_failure:
        found.outcomes.remove(first)
        looked_at += [first.name] if first.category != "rules" else []
    assert looked_at == [
        "contract/signature",
        "shapes/typical", "numerics/typical/float64", "numerics/typical/float32",
        "gradients/typical/float64", "gradients/typical/float32",
        "shapes/other", "numerics/other/float64", "shapes/more", "numerics/more/float64",
        "gradients/other/float64", "gradients/more/float64",
        "contract/refused",
        "shapes/unusual", "numerics/unusual/float64", "numerics/unusual/float32",
        "shapes/huge", "robustness/huge/float64", "gradients/huge/float64",
        "robustness/half_precision/float16", "robustness/half_precision/bfloat16",
        "robustness/non_contiguous", "robustness/inputs_left_alone", "robustness/same_answer_twice",
    ]  # fmt: skip


@pytest.mark.parametrize(("message", "whole"), [(None, False), (STOPPED, False), ("not tested before …", True)])
def test_a_run_is_whole_where_no_check_was_left_out(message: str | None, whole: bool) -> None:
    assert result(outcome("fail"), outcome("skipped", message=message)).fully_asked == whole


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("\n  a\n\nb\n", ["  a", "", "b"]),
        ("1\n2\n3\n4\n5\n", ["1", "2", "3", "4", "5"]),
        ("1\n2\n3\n4\n5\n6\n", ["1", "2", "3", "4", "5", "… (it printed more)"]),
        ("x" * 500, ["x" * 500, "… (it printed more)"]),  # where the worker cuts it off
    ],
)
def test_the_first_lines_that_a_call_printed_are_shown(output: str, lines: list[str]) -> None:
    assert card.printed(output).split("\n") == lines


def test_what_a_call_leaves_to_defaults_is_told() -> None:
    typical = Case("typical", lambda draw: {"x": draw.normal(3)})
    made = Answer("f(x, dim=-1, weight=None, mode='mean')", oracle=lambda x: x, cases=(typical,))
    vectors = TestVectors("k", Grader(answers=(made,)), 1)
    call = Request("f", ("f",), {"x": torch.ones(3), "mode": "sum"}, 1)
    assert vectors.by_default(call) == "dim=-1 by default"
    assert vectors.by_default(replace(call, arguments={"x": torch.ones(3)})) == "dim=-1, mode='mean' by default"
    assert vectors.by_default(replace(call, arguments={"x": torch.ones(3), "dim": 0, "mode": "sum"})) == ""
    assert vectors.by_default(replace(call, target="scenario")) == ""


def test_one_error_that_several_checks_meet_is_told_once() -> None:
    error = "should return, got IndexError: 3"
    found = result(
        outcome("fail", "contract/a", message="the call: should raise ValueError, got a result"),
        outcome("fail", "contract/b", message="the call: should raise ValueError, got a result"),
        outcome("fail", "robustness/half_precision/float16", message="values: should be 1, got 2", order=1),
        outcome("fail", "robustness/non_contiguous", message=f"the call (strided): {error}", order=2),
        outcome("fail", "robustness/same_answer_twice", message=f"the call (twice): {error}", order=3),
    )
    assert [one.name for one in left.repeats(found)] == ["robustness/same_answer_twice"]


CODE = """\
counter = Counter(3.0)
first = counter.add(x)
second = [
    counter.add(x),
]
return {
    "first": first,
    "first of all": len(second),
}"""


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("values of first: 2 of 6 differ", ["…", '    "first": first,', "…"]),
        ("first of all (float32): should be 1, got 2", ["…", '    "first of all": len(second),', "…"]),
        ("the call: should return, got KeyError", [*CODE.splitlines()[:3], "…"]),
    ],
)
def test_a_scenario_is_folded_to_what_failed(message: str, lines: list[str]) -> None:
    assert listing.folded(CODE, message).splitlines() == lines
    assert listing.folded("a = f(x)\nreturn a", message) == "a = f(x)\nreturn a"


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


def test_who_waits_is_told_how_many_checks_reported_and_what_comes_after_the_last() -> None:
    result = Result("scale", "toys", "scale.py", planned=2)
    assert result.so_far == "0/2"
    result.outcomes += [Outcome("one", "numerics", state, 50) for state in ("pass", "fail")]
    assert (result.so_far, result.done) == ("2/2", True)
    result.looking = True
    assert (result.so_far, result.done) == ("2/2, looking for the mistake", False)

"""Whatever a worker sends, the worst is an error of its own submission: what the judge believes as it arrives."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from graders.catalogue.katas import all_katas, find
from graders.catalogue.source import Source, read_source
from graders.judge.flagged import flagged
from graders.judge.warm import WarmJudge
from graders.sandbox import dialogue
from graders.sandbox.launcher import new_launcher
from graders.sandbox.messages import NO_ANSWER, names_of, printed_of, raised_of, reply_of
from graders.sandbox.submission import Submission
from graders.worker import wire
from graders.worker.visible import visible
from tests.replies import spoilt
from tests.toys import REFERENCE

ROUNDS = 2000
REPLY: dict[str, Any] = {
    "output": {"tuple": [{"tensor": 0, "device": "cpu", "learns": False}, {"other": "builtins.list"}]},
    "gradients": {"x": 1, "y": None},
    "changed": {"x": 2},
    "marked": {"x": "a hook is left on it"},
    "left": ["torch's grad mode"],
    "cost": {"operators": 3, "written": 64, "peak": 64, "lines": 2, "line": 7},
    "raised": {"type": "ValueError", "refusal": True, "message": "no", "line": 3},
    "names": {"f": {"kind": "function", "parameters": [{"name": "x", "kind": "POSITIONAL_OR_KEYWORD",
                                                        "optional": True, "default": 2.0}]}},
    "printed": {"lines": 1, "text": "hello\n"},
}  # fmt: skip
TENSORS = [torch.arange(6.0).reshape(2, 3), torch.ones(3, dtype=torch.float64), torch.tensor([True, False])]


def halves(message: bytes) -> tuple[bytes, memoryview]:
    """The head and the body of a message."""
    length, _ = wire.LENGTHS.unpack(message[: wire.LENGTHS.size])
    start = wire.LENGTHS.size + length
    return message[wire.LENGTHS.size : start], memoryview(bytearray(message[start:]))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in (*value, *value.values()):
            yield from texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from texts(part)


def test_spoilt_replies_are_refused_or_read_within_bounds() -> None:
    chance = random.Random(1)
    head, body = halves(wire.pack(REPLY, TENSORS))
    submission = Submission(Source("", "x.py"), ["f"], None)  # type: ignore[arg-type]  # nothing is started
    read = 0
    for _ in range(ROUNDS):
        try:
            header, tensors = wire.unpack(spoilt(head, chance), body, believed=False)
        except wire.Malformed as refused:
            str(refused).encode()
            continue
        assert sum(tensor.nbytes for tensor in tensors) <= len(body)
        if not isinstance(header, dict):
            continue  # see Worker.ask
        try:
            reply = reply_of(header, tensors)
            found: list[Any] = [
                vars(reply),
                vars(raised_of(header)) if "raised" in header else {},
                names_of(header, ["f"]),
            ]
            if reply.raised:
                found.append(submission.explain(reply.raised))
            found.append(printed_of(header))
        except NO_ANSWER:
            continue
        read += 1
        assert all(len(text.encode()) <= 4 * 800 and text.replace("\n", "").isprintable() for text in texts(found))
        assert reply.cost is None or all(0 <= figure < 2**63 for figure in vars(reply.cost).values())
        json.dumps(found[2], allow_nan=False)
    assert ROUNDS // 100 < read < ROUNDS // 2


def test_a_submission_whose_replies_are_spoilt_is_judged_to_its_end(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of it is a fault of the grader's, nothing is solved by it, and the results can be written."""
    chance, path, spoils = random.Random(1), toys / "spoilt.py", []
    path.write_text(REFERENCE)
    ask, unpack = dialogue.WorkerProcess.ask, wire.unpack

    def asked(worker: dialogue.WorkerProcess, message: bytes) -> Any:
        spoils.append(worker.path == "spoilt.py")
        try:
            return ask(worker, message)
        finally:
            spoils.pop()

    def unpacked(head: bytes, body: memoryview, believed: bool = True) -> Any:
        return unpack(spoilt(head, chance) if spoils[-1] and chance.random() < 0.2 else head, body, believed)

    launcher = new_launcher()
    judge = WarmJudge(launcher)
    try:
        assert launcher.isolation
        monkeypatch.setattr(dialogue.WorkerProcess, "ask", asked)
        monkeypatch.setattr(wire, "unpack", unpacked)
        for _ in range(10):
            result = judge.grade(find(["scale"], toys)[0], read_source(path, path.name))
            assert result.complete
            assert result.state in ("failing", "error")
            assert not any(outcome.graders_fault for outcome in result.outcomes)
            json.dumps(result.document(), ensure_ascii=False, allow_nan=False).encode()
    finally:
        judge.close()
        launcher.close()


@pytest.mark.parametrize(
    ("key", "figure"),
    [("peak", -1), ("peak", 2**63), ("peak", 10**400), ("lines", True), ("written", 1.5), ("line", None)],
)
def test_a_figure_out_of_bounds_makes_a_reply_no_answer(key: str, figure: Any) -> None:
    with pytest.raises(NO_ANSWER):
        reply_of(REPLY | {"cost": {**REPLY["cost"], key: figure}}, TENSORS)


@pytest.mark.parametrize("index", [-1, 3, True, 0.0, "0", None])
def test_an_index_of_no_tensor_makes_a_reply_no_answer(index: Any) -> None:
    with pytest.raises(NO_ANSWER):
        reply_of(REPLY | {"output": {"tensor": index}}, TENSORS)


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400, str(2**63), '"\ud800"', "[" * 5000 + "]" * 5000]
)
def test_what_is_no_number_and_no_text_is_no_message(text: str) -> None:
    head = f'{{"header": {{"x": {text}}}, "tensors": [], "sizes": []}}'.encode("utf-8", "surrogatepass")
    with pytest.raises(wire.Malformed):
        wire.unpack(head, memoryview(b""), believed=False)


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ({"dtype": "float64", "shape": [40_000_000], "stride": [0]}, 8),
        ({"dtype": "float64", "shape": [1], "stride": [1]}, 8),
        ({"dtype": "float64", "shape": [2], "stride": None}, 8),
        ({"dtype": "float64", "shape": [-1], "stride": None}, 8),
        ({"dtype": "float64", "shape": [True], "stride": None}, 8),
        ({"dtype": "float64", "shape": [0, 2**62, 2**62], "stride": None}, 0),
        ({"dtype": "uint8", "shape": [1] * 40, "stride": None}, 1),
        ({"dtype": "bool", "shape": [8], "stride": None}, 8),
    ],
)
def test_a_tensor_that_is_not_what_came_is_refused(spec: dict[str, Any], size: int) -> None:
    head = json.dumps({"header": {}, "tensors": [spec], "sizes": [size]}).encode()
    with pytest.raises(wire.Malformed):
        wire.unpack(head, memoryview(bytearray(b"\7" * 64 if size else b"")), believed=False)


def until(deadline: float) -> wire.Remaining:
    def remaining() -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    return remaining


@pytest.mark.parametrize(
    ("passed", "used", "left"),
    [
        (3, 3, 7.5),
        (3, 0, 7.5),
        (11, 0.1, 0),
        (11, 1, 9.5),
        (11, 11, 0),
        (58, 5, 2),
        (61, 5, 0),
    ],
)
def test_a_call_may_take_longer_where_others_use_the_processor(passed: float, used: float, left: float) -> None:
    now = time.monotonic()
    worker = SimpleNamespace(limit=10.0, most=60.0, asked=(now - passed, 100.0), back=now, seconds=lambda: 100.0 + used)
    if left:
        assert dialogue.WorkerProcess.remaining(worker) == pytest.approx(left, abs=0.5)  # type: ignore[arg-type]
    else:
        with pytest.raises(TimeoutError):
            dialogue.WorkerProcess.remaining(worker)  # type: ignore[arg-type]


def test_the_time_of_a_call_stands_still_while_the_judge_is_stopped() -> None:
    now = time.monotonic()
    worker = SimpleNamespace(limit=10.0, most=60.0, asked=(now - 60, 100.0), back=now - 50, seconds=lambda: 100.1)
    assert dialogue.WorkerProcess.remaining(worker) == pytest.approx(10.5, abs=0.5)  # type: ignore[arg-type]
    assert worker.asked[0] >= now


def test_bytes_that_come_one_by_one_end_with_the_deadline() -> None:
    left, right = socket.socketpair()
    message, over = wire.pack({"x": "y" * 1000}, []), threading.Event()

    def drip() -> None:
        for byte in message:
            if over.wait(0.02):
                return
            left.send(bytes([byte]))

    with left, right:
        thread = threading.Thread(target=drip)
        thread.start()
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            wire.receive(right, until(start + 0.3))
        took = time.monotonic() - start
        over.set()
        thread.join()
    assert took < 2  # all of them take 20 s


def test_messages_without_end_end_with_the_deadline() -> None:
    left, right = socket.socketpair()
    with left, right:
        for _ in range(100):
            wire.send(left, wire.pack({"offence": "one", "line": 1}, []))
        deadline = time.monotonic() + 0.2
        time.sleep(0.3)
        with pytest.raises(TimeoutError):
            wire.receive(right, until(deadline))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x[:, ::2] / Σ √d → naïve 你好", "x[:, ::2] / Σ √d → naïve 你好"),
        ("the operator aten::mul", "the operator aten::mul"),
        ("a\tb\r\nc", "a\tb\nc"),
        ("\x1b[2J\x07\x00", r"\x1b[2J\x07\x00"),
        ("\u202egnp\u2066\u200b", r"\u202egnp\u2066\u200b"),
        ("a\u2028b\x85c\rd", r"a\u2028b\x85c\rd"),
        ("\ud800 \udcff", r"\ud800 \udcff"),
        ("::error::x", ": :error: :x"),
        ("no:::set-output name=a::b", "no:: :set-output name=a: :b"),
        ("##[error]x ##vso[x]", "# #[error]x # #vso[x]"),
        ("x" * 600, "x" * 499 + "…"),
        ("\x1b" * 600, (r"\x1b" * 125)[:499] + "…"),
    ],
)
def test_text_is_made_of_visible_characters(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_a_person_should_look_at_is_found_by_line() -> None:
    source = '''import torch, sys
import torch.nn.functional as F
from torch import Tensor, nn
# __globals__ in a comment, and torch.relu = None
"""tb_frame in a docstring"""
f.__closure__
getattr(f, "__globals__")
from sys import _getframe as frame
operator.attrgetter("tb_frame.f_back")
torch.relu = f
F.normalize = Tensor.z = f
setattr(nn.Linear, "forward", f)
torch.__dict__["relu"] = f
del Tensor.numpy
self.weight = nn.Parameter(torch.ones(3))
x = torch.relu(self.weight)
os.dup2(mine, number)
'''
    assert flagged(source) == [
        "line 6: `__closure__`",
        "line 7: `__globals__`",
        "line 8: `_getframe`",
        "line 9: `f_back`",
        "line 9: `tb_frame`",
        "line 10: `torch.relu = f`",
        "line 11: `F.normalize = Tensor.z = f`",
        'line 12: `setattr(nn.Linear, "forward", f)`',
        'line 13: `torch.__dict__["relu"] = f`',
        "line 14: `del Tensor.numpy`",
        "line 17: `dup2`",
    ]
    assert flagged("def f(:") == []
    assert len(flagged("f.__closure__\n" * 100)) == 20


def test_no_answer_of_ours_is_flagged() -> None:
    files = [path for kata in all_katas() for path in (kata.reference_file, *kata.solutions.glob("alternatives/*.py"))]
    assert {path.name: flagged(path.read_text(encoding="utf-8")) for path in files} == {path.name: [] for path in files}

"""Properties of what the judge reads of a worker: whatever came, the worst is a check that fails."""

from __future__ import annotations

import contextlib
import json
import socket
from types import SimpleNamespace
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from graders.catalogue.source import Source
from graders.faults import CheckFailed
from graders.judge.agreement import agree
from graders.judge.correctness import same_leaf
from graders.judge.results import LONGEST_MESSAGE, Outcome
from graders.kata.tolerances import TOLERANCES
from graders.sandbox import dialogue
from graders.sandbox.messages import NO_ANSWER, Reply, names_of, printed_of, raised_of, reply_of
from graders.sandbox.returned import Other, in_words, leaves_of, other_form
from graders.sandbox.submission import Submission
from graders.worker import wire

settings.register_profile("quick", derandomize=True, deadline=None, database=None, max_examples=150)
settings.load_profile("quick")

TENSORS = [
    torch.ones(2, 3, dtype=torch.float64),
    torch.tensor(True),
    torch.tensor(list("é\nx".encode()), dtype=torch.uint8),
]
EXACT = TOLERANCES[torch.float64]
ODD_TEXTS = ("0x1p+99999", "nan", "-inf", "0x", "::error::x", "\n", "\x1b[2J", "\ud800", "float64", "cpu", "w1")
odd_texts = some.sampled_from(ODD_TEXTS) | some.text(max_size=20) | some.just("x" * 2000)
numbers = some.integers(-3, 3) | some.integers() | some.sampled_from([2**63, -(2**63), 10**400])
scalars = some.none() | some.booleans() | numbers | some.floats() | odd_texts
values = some.recursive(
    scalars,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(odd_texts, inner, max_size=4),
    max_leaves=12,
)
KINDS = ("tensor", "tuple", "list", "dict", "text", "float", "int", "bool", "none", "other")


def described(inner: Any) -> Any:
    """What a worker may say of a result, nearly: of the right words, with any contents."""
    several = some.lists(inner, max_size=4)
    return (
        some.fixed_dictionaries({"tuple": several})
        | some.fixed_dictionaries({"list": several})
        | some.fixed_dictionaries({"dict": several, "keys": some.lists(odd_texts, max_size=4)})
        | some.fixed_dictionaries({"dict": several, "keys": values})
    )


outputs = some.recursive(
    some.dictionaries(some.sampled_from(KINDS), scalars, min_size=1, max_size=2)
    | some.fixed_dictionaries({"tensor": some.integers(0, 2), "device": odd_texts, "learns": scalars})
    | some.fixed_dictionaries({"text": some.integers(0, 2)})
    | some.fixed_dictionaries({"float": odd_texts})
    | some.fixed_dictionaries({"int": numbers}),
    described,
    max_leaves=12,
)
printed = some.fixed_dictionaries({"text": odd_texts, "lines": some.integers(0, 9)}) | values
raised = (
    some.fixed_dictionaries({"type": odd_texts, "refusal": scalars, "message": odd_texts, "line": numbers}) | values
)
parameter = some.fixed_dictionaries({"name": odd_texts, "kind": odd_texts, "optional": scalars, "default": scalars})
found = some.fixed_dictionaries({"kind": odd_texts, "parameters": some.lists(parameter, max_size=3) | values}) | values
replies = some.fixed_dictionaries(
    {"printed": some.fixed_dictionaries({"text": odd_texts, "lines": some.integers(0, 9)})},
    optional={
        "output": outputs,
        "gradients": some.dictionaries(odd_texts, some.integers(-1, 3) | scalars, max_size=3) | values,
        "changed": some.dictionaries(odd_texts, some.integers(-1, 3) | scalars, max_size=3) | values,
        "marked": some.lists(odd_texts, max_size=3) | values,
        "cost": some.dictionaries(some.sampled_from(["operators", "written", "peak", "lines", "line"]), numbers)
        | values,
        "raised": raised,
    },
)
WANTED: tuple[Any, ...] = (TENSORS[0], 1.0, 2, True, "text", None, (TENSORS[0], 1.0), [1.0, 2.0], {"w1": TENSORS[0]})


@given(replies, some.sampled_from(WANTED))
def test_any_reply_is_read_or_no_answer_and_any_message_about_it_is_short(header: Any, wanted: Any) -> None:
    try:
        reply = reply_of(header, TENSORS)
    except NO_ANSWER:
        return
    agree(reply, Reply(result=wanted), EXACT)
    differs = other_form(reply.result, wanted)
    messages = [f"should be {in_words(wanted)}, got {in_words(reply.result)}", reply.printed]
    messages += [str(leaf) for leaf in leaves_of(reply.result).values() if isinstance(leaf, Other)]
    if reply.raised:
        messages.append(Submission(Source("x", "x.py"), ["f"], None).explain(reply.raised))  # type: ignore[arg-type]  # none is started
    if not differs:
        own, right = leaves_of(reply.result), leaves_of(wanted)
        for where in right:
            with contextlib.suppress(CheckFailed):
                same_leaf(where, where, own[where], right[where], EXACT)
    for message in messages:
        outcome = Outcome("shapes/x", "shapes", "fail", 1, message)
        assert len(outcome.message or "") <= LONGEST_MESSAGE
        json.dumps(outcome.document(0), ensure_ascii=False, allow_nan=False).encode()


@given(some.dictionaries(some.sampled_from(["names", "raised", "printed"]), values | found | raised | printed))
def test_any_news_of_an_import_is_read_or_no_answer(header: Any) -> None:
    for read in (raised_of, printed_of, lambda told: names_of(told, ["f"])):
        with contextlib.suppress(*NO_ANSWER):
            json.dumps(str(read(header))).encode()
    with contextlib.suppress(*NO_ANSWER):
        json.dumps(names_of({"names": {"f": header.get("names")}}, ["f"]), allow_nan=False).encode()


specs = some.fixed_dictionaries(
    {
        "dtype": some.sampled_from([*wire.DTYPES, "complex64", "object"]) | scalars,
        "shape": some.lists(some.integers(0, 4) | scalars, max_size=4) | values,
        "stride": some.none() | some.lists(scalars, max_size=3),
    }
)
heads = some.fixed_dictionaries(
    {
        "header": values,
        "tensors": some.lists(specs, max_size=3) | values,
        "sizes": some.lists(some.integers(0, 64) | scalars, max_size=3) | values,
    }
)


@given(heads | values, some.binary(max_size=192), some.binary(max_size=8))
def test_any_header_is_a_message_of_what_came_or_none(head: Any, body: bytes, more: bytes) -> None:
    text = json.dumps(head).encode()
    for came in (text, text + more, text[: len(text) // 2], more):
        with contextlib.suppress(wire.Malformed):
            _, tensors = wire.unpack(came, memoryview(bytearray(body)), believed=False)
            assert sum(tensor.nbytes for tensor in tensors) <= len(body)


@given(some.binary(max_size=200), some.integers(0, 300), some.integers(0, 300) | some.integers(0, 2**64 - 1))
def test_any_bytes_from_a_worker_are_a_message_or_none(sent: bytes, head: int, body: int) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(wire.LENGTHS.pack(head, body) + sent)
        theirs.shutdown(socket.SHUT_WR)
        with contextlib.suppress(wire.Malformed, wire.Closed):
            wire.receive(ours, lambda: 5.0, wire.Sender(b"k" * wire.KEY, 1, 1 << 20))


lines = some.binary(max_size=40) | some.binary(max_size=9).map(lambda name: b"\n! " + name + b"\t")
digits = some.integers(0, 10**9).map(lambda number: str(number).encode() + b"\n") | some.just(b"9" * 5000 + b"\n")


@given(some.lists(lines | digits, max_size=300))
def test_whatever_is_told_of_offences_is_noted_within_bounds(told: list[bytes]) -> None:
    worker: Any = SimpleNamespace(offences={})
    dialogue.WorkerProcess.note_offences(worker, b"".join(told))
    assert len(worker.offences) <= dialogue.MOST_OFFENCES
    assert all(line is None or line < 10**6 for line in worker.offences.values())
    assert all(len(name) <= dialogue.LONGEST_NAME for name in worker.offences)

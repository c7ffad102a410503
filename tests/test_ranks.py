"""Ranks: each run is the same, a deadlock is told exactly, each rank has what a process has, costs come back raw."""

from __future__ import annotations

import copy
import gc
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from graders.catalogue import katas
from graders.faults import ROOT, GraderError
from graders.judge.vectors import TestVectors
from graders.kata import Draw
from graders.kata import comm as costs
from graders.kata.spec import Budget, Case
from graders.worker import communicator
from graders.worker.communicator import messages, play, play_copies
from graders.worker.ranks import Deadlock, RankError
from tests.toys import ABOUT, NO_MISTAKES, failures, grade, judged, run, written

ORDERS = ([0, 1, 2], [2, 0, 1], [1, 2, 0])


def passed_round(comm: Any) -> list[int]:
    """The number of each rank, gathered by messages to the right."""
    found = [torch.tensor([comm.rank])]
    for _ in range(comm.world_size - 1):
        comm.send(found[-1], (comm.rank + 1) % comm.world_size)
        found.append(comm.recv((comm.rank - 1) % comm.world_size))
    return torch.cat(found).tolist()


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_messages_arrive_in_any_order_of_turns(order: list[int]) -> None:
    assert play(passed_round, order) == {"rank 0": [0, 2, 1], "rank 1": [1, 0, 2], "rank 2": [2, 1, 0]}


def receives_first(comm: Any) -> None:
    comm.recv((comm.rank + 1) % comm.world_size)


def waits_for_who_has_ended(comm: Any) -> None:
    if comm.rank == 2:
        comm.recv(1)


def fails_on_rank_1(group: Any) -> Any:
    if group.rank == 1:
        raise LookupError("no such shard")
    return group.all_reduce(torch.ones(2))


def refuses_on_rank_0(comm: Any) -> None:
    if comm.rank == 0:
        raise ValueError("bad")


def other_collective(group: Any) -> Any:
    x = torch.ones(2)
    return group.all_gather(x) if group.rank == 1 else group.all_reduce(x, op="max")


def to_itself(comm: Any) -> None:
    comm.send(torch.ones(1), comm.rank)


def swallows(comm: Any) -> None:
    try:
        receives_first(comm)
    except Exception:
        return


TOLD: dict[Callable[..., Any], tuple[type[BaseException], str]] = {
    receives_first: (Deadlock, "a deadlock: rank 0 waits for rank 1; rank 1 waits for rank 2; rank 2 waits for rank 0"),
    swallows: (Deadlock, "a deadlock: rank 0 waits for rank 1; rank 1 waits for rank 2; rank 2 waits for rank 0"),
    waits_for_who_has_ended: (Deadlock, "a deadlock: rank 2 waits for rank 1, which has ended"),
    fails_on_rank_1: (
        RankError,
        "LookupError on rank 1: no such shard; rank 0 waits for rank 1, which has ended; rank 2 waits for rank 1, "
        "which has ended",
    ),
    refuses_on_rank_0: (RankError, "ValueError on rank 0: bad; rank 1 returned"),
    to_itself: (RuntimeError, "send: rank 0 cannot send to itself, nor receive from itself"),
}


@pytest.mark.parametrize(("scenario", "told"), TOLD.items(), ids=[one.__name__ for one in TOLD])
def test_who_waits_for_whom_is_told(scenario: Callable[..., Any], told: tuple[type[BaseException], str]) -> None:
    for order in ([0, 1, 2], [0, 2, 1]):
        with pytest.raises(told[0]) as found:
            play(scenario, order)
        assert (type(found.value), str(found.value)) == told


def test_a_deadlock_is_told_while_memory_is_counted() -> None:
    def counted(comm: Any, spent: Any) -> None:
        spent()
        receives_first(comm)

    with pytest.raises(Deadlock, match="rank 2 waits for rank 0"):
        play(counted, [0, 1, 2], measured=True)


def test_two_collectives_at_one_place_are_told_with_both_calls() -> None:
    with pytest.raises(RankError) as found:
        play(other_collective, [0, 1])
    both = "collective 1 is all_gather of float32, but rank 0 calls all_reduce(max) of float32 of shape (2,) there"
    assert str(found.value) == f"Mismatch on rank 1: {both}; rank 0 waits for rank 1, which has ended"


def test_bad_arguments_are_refused_if_every_rank_refuses_them() -> None:
    def refuses(comm: Any) -> None:
        raise ValueError(f"no {comm.rank}")

    with pytest.raises(ValueError, match="no 1"):
        play(refuses, [1, 0])


def draws(comm: Any) -> list[Any]:
    """Random numbers, a default dtype and grad mode; others have their turn in between."""
    torch.set_default_dtype((torch.float64, torch.float32)[comm.rank])
    torch.set_grad_enabled(comm.rank == 1)
    comm.send(torch.rand(1), 1 - comm.rank)
    comm.recv(1 - comm.rank)
    return [torch.rand(1).item(), random.random(), torch.ones(1).dtype, torch.is_grad_enabled()]


def test_seeds_dtype_and_grad_mode_are_each_ranks_own() -> None:
    torch.manual_seed(3)
    random.seed(3)
    try:
        found = play(draws, [1, 0])
        assert torch.get_default_dtype() == torch.float64  # as rank 0 has left it: a call that does so is told
    finally:
        torch.set_default_dtype(torch.float32)
    assert found["rank 0"][1:] == [found["rank 1"][1], torch.float64, False]
    assert found["rank 1"][2:] == [torch.float32, True]
    torch.manual_seed(3)
    assert found["rank 1"][0] == torch.rand(2)[1].item()
    assert torch.is_grad_enabled()


def test_each_rank_has_the_file_as_a_module_of_its_own() -> None:
    module = ModuleType("submission")
    communicator.CODE[module] = compile(
        "seen = []\ndef add(x):\n    seen.append(x)\n    return seen\n", "answer", "exec"
    )
    vars(module).update(__file__="answer", __builtins__=__builtins__)

    def kept(submission: Any, comm: Any) -> Any:
        return [*submission.add(comm.rank)]

    assert play_copies(kept, module, [1, 0]) == {"rank 0": [0], "rank 1": [1]}
    assert play_copies(kept, module, [0, 1, 2]) == {"rank 0": [0, 0], "rank 1": [1, 1], "rank 2": [2]}


def left_on_the_class(comm: Any) -> bool:
    found = hasattr(type(comm), "box")
    type(comm).box = comm.rank
    return found


def test_a_communicator_holds_nothing_that_another_rank_sees() -> None:
    assert play(left_on_the_class, [0, 1]) == {"rank 0": False, "rank 1": False}


def collectives(group: Any) -> dict[str, Any]:
    own = torch.arange(3.0) + 10 * group.rank
    parts = [torch.full((size,), group.rank) for size in (1, 0, 2)]
    later = group.all_reduce(own, async_op=True)
    own_later = own.clone()
    own.fill_(0)
    return {
        "max": group.all_reduce(own_later, op="max"),
        "sum": later.wait(),
        "twice": later.wait() is later.wait(),
        "gathered": group.all_gather(parts[group.rank]),
        "scattered": group.reduce_scatter(parts),
        "exchanged": group.all_to_all(parts),
        "from rank 2": group.broadcast(own_later, 2),
        "copied": copy.deepcopy(group) is group,
    }


def test_collectives() -> None:
    found = play(collectives, [2, 0, 1])
    for rank, size in enumerate((1, 0, 2)):
        own = found[f"rank {rank}"]
        assert own["max"].tolist() == own["from rank 2"].tolist() == [20, 21, 22]
        assert own["sum"].tolist() == [30, 33, 36]
        assert own["twice"]
        assert own["copied"]
        assert [one.tolist() for one in own["gathered"]] == [[0], [], [2, 2]]
        assert own["scattered"].tolist() == [3] * size
        assert [one.tolist() for one in own["exchanged"]] == [[other] * size for other in range(3)]


def reduced_in_backward(group: Any, spent: Any) -> dict[str, Any]:
    layers = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    handles, early = [], []
    for parameter in layers.parameters():
        hook: Any = parameter.register_post_accumulate_grad_hook
        hook(lambda one: handles.append(group.all_reduce(one.grad, async_op=True)))
    spent()
    hidden = layers[0](torch.ones(2, 4))
    hidden.register_hook(lambda _: early.extend(spent()["did"]))
    layers[1](hidden).sum().backward()
    return {"early": early, "late": spent()["did"], "gradients": [one.wait() for one in handles]}


def test_what_was_handed_in_when_backward_reached_a_layer_is_seen() -> None:
    found = play(reduced_in_backward, [0, 1])["rank 0"]
    assert [row[:3] for row in found["early"]] == [["all_reduce", -1, 4], ["all_reduce", -1, 16]]
    assert [row[0] for row in found["late"]] == ["all_reduce"] * 2
    assert [one.shape for one in found["gradients"]] == [(4,), (4, 4), (4,), (4, 4)]


def holds_two(comm: Any, spent: Any, x: torch.Tensor) -> dict[str, Any]:
    spent()
    one = x.neg()
    comm.send(one, 1 - comm.rank)
    came = comm.recv(1 - comm.rank)
    del one
    last = came.neg()
    found: dict[str, Any] = spent()
    del came, last
    return found


def test_a_message_is_held_by_who_receives_it() -> None:
    found = play(holds_two, [0, 1], measured=True, x=torch.ones(1000))
    assert costs.peaks(found) == [8000, 8000]
    assert costs.held(found) == [8000, 8000]
    assert costs.links(found) == {(0, 1): (1, 4000), (1, 0): (1, 4000)}
    assert costs.out_of(found, 0) == (1, 4000)


def gathers_in_backward(group: Any, spent: Any, x: torch.Tensor, rounds: int) -> dict[str, Any]:
    """In the hook come `rounds` gathers one after the other, of which the last stays."""
    kept = []
    given = x.clone().requires_grad_()
    y: Any = given * given
    spent()
    y.register_hook(lambda grad: kept.extend([group.all_gather(grad) for _ in range(rounds)][-1]))
    y.backward(x)
    found: dict[str, Any] = spent()
    del kept[:]
    return found


def test_torch_says_nothing_of_memory_that_was_there_before(tmp_path: Path) -> None:
    file = tmp_path / "freed.py"
    file.write_text(
        "import graders, torch\n"
        "from graders.worker.communicator import play\n"
        "def freed(spent):\n"
        "    x = torch.ones(1000)\n"
        "    spent()\n"
        "    del x\n"
        "    return spent()\n"
        "play(freed, [0], measured=True)\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "TORCH_CPP_LOG_LEVEL"}
    ran = subprocess.run([sys.executable, file], env=env | {"PYTHONPATH": str(ROOT)}, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("rounds", [1, 3])
def test_what_is_gathered_in_backward_is_held(rounds: int) -> None:
    gc.collect()  # else what runs before this left in cycles may be freed, and counted, in its middle
    found = play(gathers_in_backward, [0, 1], measured=True, x=torch.ones(1000), rounds=rounds)
    assert costs.held(found) == [3 * 4000] * 2  # and the gradient
    assert costs.peaks(found) == [max(2 * rounds, 4) * 4000] * 2


def test_time_on_the_network_is_replayed() -> None:
    def chain(comm: Any, spent: Any) -> Any:
        spent()
        if comm.rank:
            comm.recv(comm.rank - 1)
        if comm.rank < 2:
            comm.send(torch.ones(25), comm.rank + 1)
            comm.send(torch.ones(25), comm.rank + 1)
        return spent()

    assert costs.seconds(play(chain, [2, 1, 0]), latency=1.0, per_byte=0.01) == 6.0  # both of two links, then two


def test_bytes_through_the_busiest_rank_are_those_of_rings() -> None:
    def star(group: Any, spent: Any) -> Any:
        """Rank 0 receives from all, and sends to all; then a collective."""
        spent()
        for other in range(1, group.world_size):
            if group.rank in (0, other):
                away = other - group.rank  # of the other one
                group.send(torch.ones(2), away)
                group.recv(away)
        found = {"by hand": spent()}
        group.all_reduce(torch.ones(6))
        found["all_reduce"] = spent()
        group.all_gather(torch.ones(2))
        return found | {"all_gather": spent()}

    found = play(star, [2, 0, 1], measured=True)
    each = {name: {rank: own[name] for rank, own in found.items()} for name in found["rank 0"]}
    assert {name: costs.busiest(one) for name, one in each.items()} == pytest.approx(
        {"by hand": 2 * 8, "all_reduce": 2 * 2 / 3 * 24, "all_gather": 2 * 8}
    )
    assert costs.given(each["by hand"]) == [(2, 4, 16), (1, 2, 8), (1, 2, 8)]
    assert costs.given(each["all_reduce"]) == [(1, 6, 24)] * 3


def test_messages_are_told_step_by_step() -> None:
    play(passed_round, [2, 0, 1])
    assert [row[:4] + row[5:] for row in messages()] == [
        [0, "send", 1, 1, 1, "0"],
        [1, "send", 2, 1, 1, "1"],
        [2, "send", 0, 1, 1, "2"],
        [0, "send", 1, 1, 2, "2"],
        [1, "send", 2, 1, 2, "0"],
        [2, "send", 0, 1, 2, "1"],
    ]


def idle(comm):  # type: ignore[no-untyped-def]  # as graders write it
    return comm.rank


def test_ranks_of_a_case_are_a_permutation_and_budgets_have_none() -> None:
    case = Case("one", lambda draw: {"ranks": [1, 2]}, scenario=idle)
    with pytest.raises(GraderError, match=r"case one: ranks should be a permutation, such as \[1, 0\], got \[1, 2\]"):
        case.calls(Draw(0))
    with pytest.raises(GraderError, match="what ranks cost is for a test of the kata"):
        Budget("one", {"n": (1, 9)}, lambda draw, n: {}, scenario=idle)


GRADER = """
import torch
from graders.kata import Answer, Case, Grader, comm


def both(comm, x):
    comm.send(x, 1 - comm.rank)
    return x + comm.recv(1 - comm.rank)


def own(comm, add, x):
    return add(comm, x[comm.rank])


def one(draw):
    return {"x": draw.integers(2, 3, high=9).double(), "ranks": comm.turns(draw, 2)}


GRADER = Grader(answers=(Answer("add(comm, x)", oracle=both, half=False, cases=(Case("two", one, scenario=own),)),))
"""
RIGHT = """
def add(comm, x):
    # --- solution
    # TODO: exchange x, and add.
    comm.send(x, 1 - comm.rank)
    return comm.recv(1 - comm.rank) + x
    # --- end
"""
SENT, GIVEN = "    comm.send(x, 1 - comm.rank)\n", "    return comm.recv(1 - comm.rank) + x\n"


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ranks")
    folder, solutions = root / "katas/toys/add", root / "solutions/toys/add"
    for place in (folder, solutions):
        place.mkdir(parents=True)
    (folder / "grader.py").write_text(GRADER)
    (folder / "README.md").write_text(ABOUT.format("add", "toys", 1, "[]", 15))
    (folder / "add.py").write_text(RIGHT)
    (solutions / "add.py").write_text(RIGHT)
    (solutions / "mistakes.py").write_text(NO_MISTAKES)
    return root


STUCK = RIGHT.replace(SENT, "").replace(GIVEN, f"    came = comm.recv(1 - comm.rank)\n{SENT}    return came + x\n")
SHARED = "boxes = []\n" + RIGHT.replace(
    GIVEN, "    boxes.append(x)\n    comm.recv(1 - comm.rank)\n    return sum(boxes)\n"
)
HANGS = RIGHT.replace(GIVEN, f"{GIVEN.replace('return', 'came =')}    while comm.rank == 0: pass\n    return came\n")
DEFAULT = "import torch\n" + RIGHT.replace(GIVEN, f"    torch.set_default_dtype(torch.float64)\n{GIVEN}")
JUDGED = {
    "right": (RIGHT, None),
    "stuck": (
        STUCK,
        "the call: should return, got a deadlock: rank 0 waits for rank 1; rank 1 waits for rank 0 "
        "(line 5: `came = comm.recv(1 - comm.rank)`)",
    ),
    "one raises": (
        RIGHT.replace(GIVEN, GIVEN.replace("x\n", "[x][comm.rank]\n")),
        "the call: should return, got IndexError on rank 1: list index out of range; rank 0 returned "
        "(line 6: `return comm.recv(1 - comm.rank) + [x][comm.rank]`)",
    ),
    "shared": (SHARED, "values of rank "),
    "hangs": (HANGS, "the call: did not return in 0.5 s (line 7: `while comm.rank == 0: pass`)"),
}


def test_answers_are_judged_on_ranks(added: Path) -> None:
    files = written(added, {name: source for name, (source, _) in JUDGED.items()})
    for (_, said), result in zip(JUDGED.values(), judged(added, "add", files, limit=1.0, core=True), strict=True):
        failed = failures(result).get("numerics/two/float64")
        assert (failed or "").startswith(said) if said else failed is None, (said, failed)


def test_a_default_dtype_that_a_rank_changes_is_told(added: Path) -> None:
    told = failures(grade(added, "add", {"default": DEFAULT})["default"])["robustness/inputs_left_alone"]
    assert told.startswith("torch's default dtype"), told


def test_card_shows_the_messages(added: Path) -> None:
    (added / "wrong.py").write_text(RIGHT.replace("+ x", "- x"))
    ran = run(added, "grade", "add", "--submission", str(added / "wrong.py"), "--seed", "1")
    shown = " ".join(ran.out.split())
    assert "messages step 1: rank 0 → 1, 3 numbers: 1, 7, 0 step 1: rank 1 → 0, 3 numbers: 7, 0, 6 failing" in shown


def same_bits_in_both_orders(scenario: Callable[..., Any], ranks: list[int], **given: Any) -> None:
    in_turns = [play(scenario, order, **copy.deepcopy(given)) for order in (ranks, ranks[::-1])]
    torch.testing.assert_close(*in_turns, rtol=0, atol=0, equal_nan=True)


def test_bits_that_depend_on_the_order_of_turns_are_seen() -> None:
    arrived: list[torch.Tensor] = []

    def added_as_they_come(group: Any, x: torch.Tensor) -> torch.Tensor:
        arrived.append(x[group.rank])
        group.all_reduce(x[0])  # all have come
        total = arrived[0] + arrived[1] + arrived[2]
        group.all_reduce(x[0])  # all have read
        arrived.clear()
        return total

    with pytest.raises(AssertionError):
        same_bits_in_both_orders(added_as_they_come, [0, 1, 2], x=torch.tensor([1.0, 2.0**24, -(2.0**24)]))


@pytest.mark.parametrize(
    "kata", [one for one in katas.all_katas(ROOT) if one.topic == "distributed"], ids=lambda one: one.id
)
def test_references_give_the_same_bits_in_any_order_of_turns(kata: katas.Kata) -> None:
    vectors, reference = TestVectors(kata.id, kata.grader, 7), runpy.run_path(str(kata.reference_file))
    for case in (case for answer in kata.grader.answers for case in answer.cases):
        if case.scenario is None or case.raises:
            continue
        names = vectors.answers_in(case.scenario)
        for given in vectors.arguments(case):
            answers = {name: reference[name] for name in names}
            same_bits_in_both_orders(case.scenario, **answers, **given)

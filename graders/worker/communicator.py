"""What ranks send each other: `comm`, by which a submission does it, and how the grader is told what that cost.

Tensors are copied as they are sent. Who receives a message has it alone; of what is reduced or gathered, each rank gets
a copy.
"""

from __future__ import annotations

import inspect
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C._autograd import (  # type: ignore[attr-defined]  # as in meter.py
    _clear_callbacks,
    _disable_profiler_legacy,
    _enable_profiler_legacy,
)

from graders.worker import meter
from graders.worker.described import BASE, dtype_of, is_tensor, shape_of
from graders.worker.ranks import Ranks, Wait

Row = list[Any]  # what was done, the other rank or -1, numbers, bytes, the step, and the numbers if they are few
maximum, contiguous = torch.maximum, torch.contiguous_format
ADDS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "sum": BASE.add_,
    "max": lambda one, other: maximum(one, other, out=one),
}
CODE: dict[ModuleType, CodeType] = {}  # of each submission that was read
COPIES: dict[ModuleType, list[ModuleType]] = {}  # one for each rank; they stay, as processes do
LAST: list[list[Row]] = []  # what each rank did in the last run
FEW = 4  # numbers that are shown
MOST_TOLD = 200  # rows
STEP = 5  # in a row that the rank is put before
RANKS = "ranks"  # the input of a scenario that says how many ranks play it, in the order of their turns
SHARED_NAMES = ("__file__", "__builtins__")
enable, disable = partial(_enable_profiler_legacy, meter.CONFIG), _disable_profiler_legacy
take, clear_callbacks = meter.TAKE, _clear_callbacks
kind_of, _, _, _, cpu_bytes, cuda_bytes = meter.OF_EVENT


class Mismatch(Exception):
    """Two ranks call different collectives at the same place."""


class Call(NamedTuple):
    """One rank's part of a collective."""

    words: str  # in which all ranks should agree
    tensors: list[Tensor]


class Handle:
    """Of a collective that was begun with async_op=True."""

    def __init__(self, take_result: Callable[[], Any]) -> None:
        self.results: list[Any] = []
        self.take_result = take_result

    def wait(self) -> Any:
        if not self.results:
            self.results.append(self.take_result())
        return self.results[0]


class Network:
    """What is under way between the ranks of one run, and what each rank did."""

    def __init__(self, ranks: Ranks, measured: bool) -> None:
        self.ranks, self.measured = ranks, measured
        self.sent: defaultdict[tuple[int, int], deque[tuple[Tensor, int]]] = defaultdict(deque)
        self.calls: list[list[Call]] = [[] for _ in ranks.order]
        self.rows: list[list[Row]] = [[] for _ in ranks.order]
        self.steps = [0] * ranks.size  # of the latest message that each has received
        self.memory: dict[int, Memory] = {}
        self.told = [0] * ranks.size  # rows that were counted before

    def copied(self, rank: int, tensor: Any, call: str) -> Tensor:
        """A copy that is the network's: none of the rank's memory."""
        if not is_tensor(tensor):
            raise TypeError(f"{call} should be given a tensor, got {type(tensor).__name__}")
        counted = self.memory.get(rank)
        if counted:
            counted.look()
        copy = BASE.clone(BASE.detach(tensor), memory_format=contiguous)
        if counted:
            take()
        return copy

    def wait(self, rank: int, wait: Wait) -> None:
        counted = self.memory.get(rank)
        if counted:
            counted.look()
        try:
            self.ranks.wait(rank, wait)
        finally:
            if counted:
                take()  # what a change of turn makes and frees is ours

    def note(self, rank: int, what: str, other: int, tensors: Sequence[Tensor]) -> None:
        numbers = sum(map(BASE.numel, tensors))
        size = sum(BASE.numel(one) * BASE.element_size(one) for one in tensors)
        flat = [number for one in tensors for number in BASE.tolist(BASE.view(one, -1))] if numbers <= FEW else []
        values = ", ".join(f"{number:.4g}" for number in flat)
        self.rows[rank].append([what, other, numbers, size, self.steps[rank] + (what != "recv"), values])

    def neighbour(self, rank: int, other: Any, call: str) -> int:
        if type(other) is not int or not 0 <= other < self.ranks.size:
            raise RuntimeError(f"{call}: the other rank should be from 0 to {self.ranks.size - 1}, got {other!r}")
        if other == rank:
            raise RuntimeError(f"{call}: rank {rank} cannot send to itself, nor receive from itself")
        return other

    def send(self, rank: int, tensor: Tensor, dst: int) -> None:
        self.neighbour(rank, dst, "send")
        copy = self.copied(rank, tensor, "send")
        self.note(rank, "send", dst, [copy])
        self.sent[rank, dst].append((copy, self.steps[rank] + 1))

    def recv(self, rank: int, src: int) -> Tensor:
        queue = self.sent[self.neighbour(rank, src, "recv"), rank]
        self.wait(rank, Wait(lambda: bool(queue), lambda: [src]))
        tensor, step = queue.popleft()
        self.steps[rank] = max(self.steps[rank], step)
        self.note(rank, "recv", src, [tensor])
        if rank in self.memory:
            self.memory[rank].add(BASE.numel(tensor) * BASE.element_size(tensor))
        return tensor

    def collective(
        self,
        rank: int,
        name: str,
        given: Sequence[Any],
        detail: str,
        result: Callable[[list[list[Tensor]]], Any],
        later: bool,
    ) -> Any:
        """`result` makes it of all ranks' calls. Raises: Mismatch, Deadlock."""
        if name in ("reduce_scatter", "all_to_all") and len(given) != self.ranks.size:
            raise RuntimeError(f"{name} should be given a tensor for each of {self.ranks.size} ranks, got {len(given)}")
        tensors = [self.copied(rank, one, name) for one in given]
        kinds = sorted({str(dtype_of(one)).removeprefix("torch.") for one in tensors})
        fixed = name in ("all_reduce", "broadcast")
        shape = f" of shape {tuple(shape_of(tensors[0]))}" * fixed
        call = Call(f"{name}{detail} of {' and '.join(kinds)}{shape}", tensors)
        number, size = len(self.calls[rank]), self.ranks.size
        for other, calls in enumerate(self.calls):
            if len(calls) > number and calls[number].words != call.words:
                raise Mismatch(
                    f"collective {number + 1} is {call.words}, but rank {other} calls {calls[number].words} there"
                )
        self.calls[rank].append(call)
        self.note(rank, name, -1, tensors)

        def lacking() -> list[int]:
            return [other for other in range(size) if len(self.calls[other]) <= number]

        def finish() -> Any:
            self.rows[rank].append(["wait", number, 0, 0, self.steps[rank], ""])
            self.wait(rank, Wait(lambda: not lacking(), lacking))
            return result([calls[number].tensors for calls in self.calls])

        handle = Handle(finish)
        return handle if later else handle.wait()

    def spent(self, rank: int) -> dict[str, Any]:
        """What a rank has done and held since it was asked last, or since it began."""
        rows = self.rows[rank][self.told[rank] :]
        self.told[rank] = len(self.rows[rank])
        if rank in self.memory:
            return {"did": rows, **self.memory[rank].spent()}
        if self.measured:
            self.memory[rank] = Memory()
        return {"did": rows, "peak": 0, "held": 0}


class Memory:
    """Counts the bytes that a rank holds: torch's profiler sees what one thread allocates and frees."""

    def __init__(self) -> None:
        self.live = self.first = self.most = 0
        enable()

    def look(self) -> None:
        for event in (event for thread in take() for event in thread if kind_of(event) == "memory_alloc"):
            self.add_up(cpu_bytes(event) + cuda_bytes(event))

    def add_up(self, change: int) -> None:
        self.live += change
        self.most = max(self.most, self.live)

    def add(self, change: int) -> None:
        """What it was given, and will free."""
        self.look()
        self.add_up(change)

    def spent(self) -> dict[str, int]:
        """At most and now, above what it held when this was asked last."""
        self.look()
        found = {"peak": self.most - self.first, "held": self.live - self.first}
        self.first = self.most = self.live
        return found

    def end(self) -> None:
        self.look()
        disable()
        clear_callbacks()


def communicators(network: Network, own: int) -> tuple[Any, Any]:
    """One rank's, without and with collectives. The classes are its own as well: what is put there reaches no other."""
    begin = partial(network.collective, own)

    class Communicator:
        __slots__ = ()
        rank, world_size = property(lambda _: own), property(lambda _: network.ranks.size)

        def __repr__(self) -> str:
            return f"<rank {own} of {network.ranks.size}>"

        def __deepcopy__(self, _: object) -> Communicator:
            return self

        def send(self, tensor: Tensor, dst: int) -> None:
            network.send(own, tensor, dst)

        def recv(self, src: int) -> Tensor:
            return network.recv(own, src)

    class Group(Communicator):
        __slots__ = ()

        def all_reduce(self, tensor: Tensor, op: str = "sum", async_op: bool = False) -> Any:
            if op not in ADDS:
                raise RuntimeError(f'all_reduce: op should be "sum" or "max", got {op!r}')
            return begin("all_reduce", [tensor], f"({op})", lambda calls: reduced(calls, 0, ADDS[op]), async_op)

        def all_gather(self, tensor: Tensor, async_op: bool = False) -> Any:
            return begin("all_gather", [tensor], "", lambda calls: [BASE.clone(one[0]) for one in calls], async_op)

        def reduce_scatter(self, tensors: list[Tensor], async_op: bool = False) -> Any:
            return begin("reduce_scatter", tensors, "", lambda calls: reduced(calls, own, BASE.add_), async_op)

        def all_to_all(self, tensors: list[Tensor], async_op: bool = False) -> Any:
            return begin("all_to_all", tensors, "", lambda calls: [BASE.clone(one[own]) for one in calls], async_op)

        def broadcast(self, tensor: Tensor, src: int, async_op: bool = False) -> Any:
            return begin("broadcast", [tensor], f"(src={src})", lambda calls: BASE.clone(calls[src][0]), async_op)

    return Communicator(), Group()


def reduced(calls: list[list[Tensor]], place: int, add: Callable[[Tensor, Tensor], Any]) -> Tensor:
    """In the order of the ranks, so that all get the same bits."""
    total = BASE.clone(calls[0][place])
    for call in calls[1:]:
        add(total, call[place])
    return total


def copies_of(module: ModuleType, count: int) -> list[ModuleType]:
    """A submission as each rank has it: its file, run anew."""
    made = COPIES.setdefault(module, [])
    while len(made) < count:
        copy = ModuleType(module.__name__)
        vars(copy).update({name: vars(module)[name] for name in SHARED_NAMES})
        exec(CODE[module], vars(copy))
        made.append(copy)
    return made[:count]


def messages() -> list[list[Any]]:
    """What ranks sent in the last run, step by step, up to a limit."""
    sent = [[rank, *row] for rank, rows in enumerate(LAST) for row in rows if row[0] not in ("recv", "wait")]
    return sorted(sent, key=lambda row: (row[STEP], row[0]))[:MOST_TOLD]


def play_copies(
    scenario: Callable[..., Any], module: ModuleType, ranks: Sequence[int], **inputs: Any
) -> dict[str, Any]:
    """What a scenario returns on each rank, where each has a copy of the submission."""
    return play(scenario, ranks, copies_of(module, len(ranks)), True, **inputs)


def play(
    scenario: Callable[..., Any],
    ranks: Sequence[int],
    copies: Sequence[ModuleType] = (),
    measured: bool = False,
    **inputs: Any,
) -> dict[str, Any]:
    """What a scenario returns on each rank; `ranks` are in the order of their turns.

    It is given what it has a parameter for: `comm`, `group` (the same with collectives) and `spent`. The memory of each
    rank is only known if it is measured.
    """
    running = Ranks(ranks, copies)
    network = Network(running, measured)
    code = inspect.unwrap(scenario).__code__
    wanted = code.co_varnames[: code.co_argcount]

    def each(rank: int) -> Any:
        comm, group = communicators(network, rank)
        given = {"comm": comm, "group": group, "spent": partial(network.spent, rank)}
        try:
            more = {name: one for name, one in given.items() if name in wanted}
            return scenario(*copies[rank : rank + 1], **more, **inputs)
        finally:
            if rank in network.memory:
                network.memory[rank].end()

    LAST[:] = network.rows
    return running.run(each)

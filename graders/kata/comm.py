"""What ranks did, as they note it in the worker, and what that cost: added up here, in the judge.

A scenario with a parameter `comm` is played by several ranks at once, each with its own copy of the submission: the
input `ranks` lists them in the order of their turns. All get the same inputs, and what they return is a dict of
"rank 0", "rank 1", … If the kata has collectives, the parameter is `group` instead. With a parameter `spent`, a
scenario can find out what a rank has done since it was asked last:

    def counted(comm, spent, summed, x):
        spent()  # it is counted from here on
        summed(comm, x[comm.rank])
        return spent()

It has what the rank "did", the bytes that it held at the worst moment, its "peak", and those that it still holds,
"held", both above what it began with.

An oracle is called in the same way; it may gather what all ranks have, and compute as one process would.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from graders.kata.draw import Draw

DID, PEAK, HELD = "did", "peak", "held"
Spent = Mapping[str, Mapping[str, Any]]  # what `spent` gave on each rank: rows, and bytes
WORLDS = (1, 2, 3, 4, 8)  # how many ranks there are in the cases of a kata
LATENCY, PER_BYTE = 1e-5, 1e-10  # seconds: a message, and each of its bytes on one link, of 10 GB a second
ROUNDING = 1e-9  # of a figure, which is no difference


def turns(draw: Draw, world: int) -> list[int]:
    """So many ranks, in some order."""
    order: list[int] = draw.permutation(world).tolist()
    return order


def rows_of(spent: Spent) -> list[list[list[Any]]]:
    return [list(one[DID]) for one in spent.values()]


def links(spent: Spent) -> dict[tuple[int, int], tuple[int, int]]:
    """Messages and bytes from each rank to each other one."""
    found: dict[tuple[int, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for rank, rows in enumerate(rows_of(spent)):
        for what, other, _, size, *_ in rows:
            if what == "send":
                messages, sizes = found[rank, other]
                found[rank, other] = messages + 1, sizes + size
    return dict(found)


def out_of(spent: Spent, rank: int) -> tuple[int, int]:
    """Messages and bytes that leave a rank."""
    own = [figures for (source, _), figures in links(spent).items() if source == rank]
    return sum(messages for messages, _ in own), sum(size for _, size in own)


def given(spent: Spent) -> list[tuple[int, int, int]]:
    """Of each rank: messages and collectives that it began, and the numbers and bytes that it gave to them."""
    began = [[row[2:4] for row in own if row[0] not in ("recv", "wait")] for own in rows_of(spent)]
    return [(len(own), sum(numbers for numbers, _ in own), sum(size for _, size in own)) for own in began]


def busiest(spent: Spent) -> float:
    """Bytes through one rank, in or out, at the rank that has most, if collectives go round a ring."""
    rows = rows_of(spent)
    W = len(rows)
    part = (W - 1) / W
    ring = dict.fromkeys(("reduce_scatter", "all_to_all", "broadcast"), part)
    ring |= {"all_reduce": 2 * part, "all_gather": W - 1}
    together: float = sum(ring.get(what, 0) * size for own in rows for what, _, _, size, *_ in own) / W
    alone: list[int] = [sum(row[3] for row in own if row[0] == way) for own in rows for way in ("send", "recv")]
    return together + max(alone)


def peaks(spent: Spent) -> list[int]:
    """Bytes that each rank held at its worst moment, above what it began with."""
    return [one[PEAK] for one in spent.values()]


def held(spent: Spent) -> list[int]:
    """Bytes that each rank still holds, above what it began with."""
    return [one[HELD] for one in spent.values()]


def seconds(spent: Spent, latency: float = LATENCY, per_byte: float = PER_BYTE) -> float:
    """When the last message arrives, where each rank has one link out, and computing takes no time."""
    rows = rows_of(spent)
    clock, link = [0.0] * len(rows), [0.0] * len(rows)
    arriving: dict[tuple[int, int], deque[float]] = defaultdict(deque)
    pending, before = [deque(one) for one in rows], -1
    while (left := sum(map(len, pending))) != before:
        before = left
        for rank, own in enumerate(pending):
            while own:
                what, other, _, size, *_ = own[0]
                if what == "recv" and not arriving[other, rank]:
                    break  # it waits
                if what == "recv":
                    clock[rank] = max(clock[rank], arriving[other, rank].popleft())
                elif what == "send":
                    link[rank] = max(clock[rank], link[rank]) + latency + size * per_byte
                    arriving[rank, other].append(link[rank])
                own.popleft()
    return max([*clock, *link])


def at_most(what: str, got: float, most: float, unit: str = "") -> str:
    """What is wrong if it is more; nothing if not. It goes into an assertion: `problem = at_most(…)`."""
    said = "{:,.0f}{} " if unit else "{:,.0f}"
    words = [said.format(one, f" {unit}").rstrip() for one in (most, got)]
    return f"{what}: should be at most {words[0]}, got {words[1]}" if got > most * (1 + ROUNDING) else ""

"""Runs a function on several ranks: threads of which one runs at a time, in a fixed order, so each run is the same.

A rank runs until it waits for what is not there, or ends; then the next one in the order that can go on has its turn.
If none can, that is a deadlock, and each rank that waits is told so. What ranks send each other is in communicator.py.
"""

from __future__ import annotations

import random
import sys
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import torch

is_recording, set_grad_enabled = torch.is_grad_enabled, torch._C._set_grad_enabled
# What a process has for itself, and threads share: how it is read, and set.
OWN: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (torch.get_default_dtype, torch._C._set_default_dtype),
    (torch.default_generator.get_state, torch.default_generator.set_state),
    (random.getstate, random.setstate),
]
REFUSALS = (ValueError, AssertionError)


class Deadlock(BaseException):
    """Nobody can go on. No `except Exception` takes it for an error that a rank could mend."""


class RankError(Exception):
    """What one rank raised and others did not."""


class Wait(NamedTuple):
    """Until when a rank waits, and for which ranks."""

    ready: Callable[[], bool]
    whom: Callable[[], list[int]]


class Ranks:
    """One run: whose turn it is, and what came of each rank."""

    def __init__(self, order: Sequence[int], modules: Sequence[ModuleType] = ()) -> None:
        """`modules` are the ranks' copies of the submission, if it is imported by name."""
        self.order, self.modules = order, modules
        self.size = len(order)
        self.turns = [allocate_lock() for _ in order]
        self.over = allocate_lock()
        for lock in (*self.turns, self.over):
            lock.acquire()
        self.waiting: dict[int, Wait] = {}
        self.dead = ""  # who waits for whom, once nobody can go on
        self.returned: dict[int, Any] = {}
        self.raised: dict[int, BaseException] = {}  # the first comes first
        self.at_first = [read() for read, _ in OWN]
        self.own = [self.at_first] * self.size  # as each left it at its last turn
        self.recording = is_recording()

    def run(self, each: Callable[[int], Any]) -> dict[str, Any]:
        """What each rank returned. Raises: what the ranks raised, RankError, Deadlock."""
        for rank in range(self.size):
            start_new_thread(self.work, (rank, each))
        self.next_turn(self.order[-1])
        self.over.acquire()
        dtype = next((dtype for dtype, *_ in self.own if dtype is not self.at_first[0]), self.at_first[0])
        for (_, write), value in zip(OWN, [dtype, *self.at_first[1:]], strict=True):
            write(value)
        if self.raised:
            raise self.error()
        return {f"rank {rank}": self.returned[rank] for rank in range(self.size)}

    def work(self, rank: int, each: Callable[[int], Any]) -> None:
        """One rank's thread."""
        self.turns[rank].acquire()
        self.enter(rank)
        set_grad_enabled(self.recording)
        try:
            self.returned[rank] = each(rank)
        except BaseException as error:
            self.raised[rank] = error
        self.leave(rank)
        self.next_turn(rank)

    def enter(self, rank: int) -> None:
        for (_, write), value in zip(OWN, self.own[rank], strict=True):
            write(value)
        if self.modules:
            sys.modules[self.modules[rank].__name__] = self.modules[rank]

    def leave(self, rank: int) -> None:
        self.own[rank] = [read() for read, _ in OWN]

    def next_turn(self, last: int) -> None:
        """Goes to the first after the last one, in the order, that can go on."""
        after = self.order.index(last) + 1
        living = [one for one in (*self.order[after:], *self.order[:after]) if not self.has_ended(one)]
        able = [one for one in living if self.dead or one not in self.waiting or self.waiting[one].ready()]
        if living and not able:
            self.dead = self.who_waits()
            able = living
        (self.turns[able[0]] if able else self.over).release()

    def has_ended(self, rank: int) -> bool:
        return rank in self.returned or rank in self.raised

    def wait(self, rank: int, wait: Wait) -> None:
        """Gives the turn away until it is ready. Raises: Deadlock."""
        if wait.ready():
            return
        self.waiting[rank] = wait
        self.leave(rank)
        self.next_turn(rank)
        self.turns[rank].acquire()
        self.enter(rank)
        del self.waiting[rank]
        if not wait.ready():
            raise Deadlock(f"a deadlock: {self.dead}")

    def who_waits(self) -> str:
        """ "rank 0 waits for rank 3, rank 3 waits for rank 0" """
        said = []
        for rank, wait in sorted(self.waiting.items()):
            others = [f"rank {one}{', which has ended' * self.has_ended(one)}" for one in wait.whom()]
            said.append(f"rank {rank} waits for {' and '.join(others)}")
        return "; ".join(said)

    def error(self) -> BaseException:
        """The one to tell of. Bad arguments are refused only if every rank refuses them."""
        own = {rank: error for rank, error in self.raised.items() if type(error) is not Deadlock}
        if not own:
            return min(self.raised.items())[1]
        others = {rank: error for rank, error in own.items() if not isinstance(error, REFUSALS)}
        rank, error = next(iter((others or own).items()))
        if len(own) == self.size:
            return error
        rest = self.dead or f"rank {min(self.returned)} returned"
        told = RankError(f"{type(error).__name__} on rank {rank}{f': {error}' * bool(str(error))}; {rest}")
        return told.with_traceback(error.__traceback__)

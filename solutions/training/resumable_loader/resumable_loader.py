"""A loader that shares an epoch and goes on after a restart. Statement: katas/training/resumable_loader/README.md."""

import random
from collections.abc import Iterator
from typing import Any


class ShardedLoader:
    """Batches of indices: of an epoch's order, rank r of W gets the places r, r + W, r + 2W, …

    Args:
        length: how many samples there are, at least 0.
        batch_size: how many indices a batch has, at least 1; the last one may have fewer.
        rank, world_size: which process this is, 0 to W − 1, and of how many.
        shuffle: whether the order is another one in each epoch; else it is 0, 1, 2, …
        seed: the order follows from length, seed and epoch.
        drop_last: whether the order is cut, rather than padded from its start, to equal shares; and whether a last
            batch that is not full is then left out.
    Raises: ValueError if length is below 0, batch_size below 1, or rank outside 0 to W − 1.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        rank: int = 0,
        world_size: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        # --- solution
        # TODO: refuse bad arguments.
        # TODO: keep them, and where you are: the epoch, and how many batches were handed out.
        if length < 0:
            raise ValueError(f"length should be at least 0, got {length}")
        if batch_size < 1:
            raise ValueError(f"batch_size should be at least 1, got {batch_size}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank should be at least 0 and below world_size, got {rank} of {world_size}")
        self.length, self.batch_size, self.rank, self.world_size = length, batch_size, rank, world_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = self.handed_out = 0
        self.loaded = False  # whether the next iteration goes on from handed_out
        # --- end

    def __len__(self) -> int:
        """How many batches an epoch has on this rank."""
        # --- solution
        # TODO: shares first, then batches.
        share = self._divided(self.length, self.world_size)
        return self._divided(share, self.batch_size)
        # --- end

    def __iter__(self) -> Iterator[list[int]]:
        """The epoch's batches, from its start, or once from where the loaded state was."""
        # --- solution
        # TODO: where to begin?
        # TODO: the order, from a generator of your own; this rank's share of it, padded or cut.
        # TODO: count a batch before you hand it out.
        if not self.loaded:
            self.handed_out = 0
        self.loaded = False
        order = list(range(self.length))
        if self.shuffle:
            random.Random(f"{self.seed} {self.epoch}").shuffle(order)
        share = self._divided(self.length, self.world_size)
        places = [self.rank + k * self.world_size for k in range(share)]
        indices = [order[place % self.length] for place in places]  # padded from the start
        while self.handed_out < len(self):
            start = self.handed_out * self.batch_size
            self.handed_out += 1
            yield indices[start : start + self.batch_size]
        # --- end

    def set_epoch(self, epoch: int) -> None:
        """Another epoch begins at its start; the current one keeps a place that was loaded."""
        # --- solution
        # TODO: what changes, and when?
        if epoch != self.epoch:
            self.epoch, self.handed_out, self.loaded = epoch, 0, False
        # --- end

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration is, in numbers that json can write; the same on all ranks."""
        # --- solution
        # TODO: the place, and what must be the same where the state is loaded.
        place = {"epoch": self.epoch, "handed_out": self.handed_out}
        return {name: getattr(self, name) for name in ("length", "seed", "batch_size", "world_size")} | place
        # --- end

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration goes on after the last batch that was handed out.

        Raises: ValueError if the state is of another length, seed, batch_size or world_size.
        """
        # --- solution
        # TODO: refuse the state of another loader.
        # TODO: take the place over.
        for name in ("length", "seed", "batch_size", "world_size"):
            if state[name] != getattr(self, name):
                raise ValueError(f"state should be of the same length, seed, batch and world size, got another {name}")
        self.epoch, self.handed_out, self.loaded = state["epoch"], state["handed_out"], True
        # --- end

    # --- solution
    def _divided(self, n: int, parts: int) -> int:
        return n // parts if self.drop_last else -(-n // parts)

    # --- end

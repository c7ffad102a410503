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
        # TODO: refuse bad arguments.
        # TODO: keep them, and where you are: the epoch, and how many batches were handed out.
        raise NotImplementedError

    def __len__(self) -> int:
        """How many batches an epoch has on this rank."""
        # TODO: shares first, then batches.
        raise NotImplementedError

    def __iter__(self) -> Iterator[list[int]]:
        """The epoch's batches, from its start, or once from where the loaded state was."""
        # TODO: where to begin?
        # TODO: the order, from a generator of your own; this rank's share of it, padded or cut.
        # TODO: count a batch before you hand it out.
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Another epoch begins at its start; the current one keeps a place that was loaded."""
        # TODO: what changes, and when?
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration is, in numbers that json can write; the same on all ranks."""
        # TODO: the place, and what must be the same where the state is loaded.
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration goes on after the last batch that was handed out.

        Raises: ValueError if the state is of another length, seed, batch_size or world_size.
        """
        # TODO: refuse the state of another loader.
        # TODO: take the place over.
        raise NotImplementedError

    raise NotImplementedError

"""Reduce-scatter, all-gather and all-reduce round a ring. Statement: katas/distributed/ring_all_reduce/README.md."""

from typing import Protocol

import torch
from torch import Tensor


class Comm(Protocol):
    """What each rank is given."""

    rank: int
    world_size: int

    def send(self, tensor: Tensor, dst: int) -> None: ...
    def recv(self, src: int) -> Tensor: ...


def reduce_scatter(comm: Comm, x: Tensor) -> Tensor:
    """Rank r gets chunk r of Σ_q x_q, where x_q is rank q's tensor, flattened and cut by tensor_split.

    Args:
        comm: send(tensor, dst) never blocks; recv(src) waits. Messages go to the next rank of the ring alone.
        x: any shape and dtype, the same on all ranks.
    Returns: 1-D, chunk r of W.
    Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms (2009), section 3.
    """
    # TODO: which chunk does a rank send first, so that the last one that it adds to is its own?
    # TODO: W − 1 times: send the partial sum to the right, add your own chunk to what comes from the left.
    raise NotImplementedError


def all_gather(comm: Comm, shard: Tensor) -> Tensor:
    """Every rank gets all shards, one after the other, in the order of the ranks.

    Args:
        shard: 1-D; its length may differ from rank to rank, and may be 0.
    Returns: 1-D, as long as all shards together.
    """
    # TODO: W − 1 times: send to the right what you received last, at first your own shard.
    # TODO: whose shard is it that comes from the left in each step?
    raise NotImplementedError


def ring_all_reduce(comm: Comm, x: Tensor) -> Tensor:
    """Σ_q x_q on every rank, with the same bits: a reduce-scatter, then an all-gather.

    Args:
        x: any shape and dtype, the same on all ranks.
    Returns: like x.
    """
    # TODO: put the two together; the result has the shape of x.
    raise NotImplementedError

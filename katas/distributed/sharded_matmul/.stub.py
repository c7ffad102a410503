"""A matrix product whose shards travel round a ring. Statement: katas/distributed/sharded_matmul/README.md."""

from typing import Protocol

import torch
from torch import Tensor


class Comm(Protocol):
    """What each rank is given."""

    rank: int
    world_size: int

    def send(self, tensor: Tensor, dst: int) -> None: ...
    def recv(self, src: int) -> Tensor: ...


def sharded_matmul(comm: Comm, a: Tensor, b: Tensor) -> Tensor:
    """Rank r's rows of AB, where it holds these rows of A and some columns of B.

    Args:
        comm: send(tensor, dst) never blocks; recv(src) waits. Messages go to one neighbour in the ring alone.
        a: (m_r, K), A.tensor_split(W)[r].
        b: (K, n_r), B.tensor_split(W, 1)[r]; the widths may differ, and only the rank itself knows its own.
    Returns: (m_r, N).
    """
    # TODO: multiply your rows by the shard that you have; then pass the shard on, W − 1 times.
    # TODO: whose shard is it in each step? The blocks belong in the order of the ranks, not of arrival.
    # TODO: keep no shard that you have multiplied by.
    raise NotImplementedError

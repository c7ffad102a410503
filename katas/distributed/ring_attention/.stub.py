"""Attention over a sequence that is spread over ranks. Statement: katas/distributed/ring_attention/README.md."""

import math
from typing import Protocol

import torch
from torch import Tensor


class Comm(Protocol):
    """What each rank is given."""

    rank: int
    world_size: int

    def send(self, tensor: Tensor, dst: int) -> None: ...
    def recv(self, src: int) -> Tensor: ...


def ring_attention(comm: Comm, q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """softmax(q Kᵀ / √d) V, where K and V are all ranks' keys and values, and each rank has its own tokens' alone.

    Args:
        comm: send(tensor, dst) never blocks; recv(src) waits. Messages go to one neighbour in the ring alone.
        q, k, v: (B, H, S_r, d), of positions arange(S).tensor_split(W)[r]; only the rank itself knows its S_r.
        causal: whether keys of later positions are hidden.
    Returns: (B, H, S_r, d).
    Source: arXiv:2310.01889, with the running maximum and sum of arXiv:1805.02867.
    """
    # TODO: keep a running maximum, a running sum and a running output for each query.
    # TODO: let keys and values travel, W − 1 times. Whose block is it in each step?
    # TODO: causal: is the block before, your own, or after? What do you do in each case?
    # TODO: a new maximum changes what the sum and the output are relative to.
    raise NotImplementedError

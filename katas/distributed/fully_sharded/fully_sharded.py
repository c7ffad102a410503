"""Fully sharded data parallelism. Statement: katas/distributed/fully_sharded/README.md."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call


class OneBlock(torch.autograd.Function):
    """A block whose weights are there only while it runs, forward and again backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, shard: Tensor, model: "FullySharded", i: int) -> Tensor:
        """Block i's output."""
        # TODO: gather the weights, run the block, and keep what backward needs: not the weights.
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:  # type: ignore[override]
        """A gradient for each argument of forward; the shard's is its part of the mean over ranks."""
        # TODO: gather the weights again, and run the block again, this time with a graph.
        # TODO: which of the gradients stay on this rank, and which become a part of a mean?
        raise NotImplementedError


class FullySharded(nn.Module):
    """Blocks that run one after the other; between their uses, each rank holds 1/W of their weights.

    Args:
        comm: has rank, world_size, all_gather(tensor), reduce_scatter(tensors).
        blocks: modules of one tensor in and out, with the same weights on all ranks. They are taken over.
    Source: ZeRO stage 3 (arXiv:1910.02054); FSDP (arXiv:2304.11277).
    """

    def __init__(self, comm: Any, blocks: list[nn.Module]) -> None:
        # TODO: for each block, flatten its parameters and keep 1/W of them, in memory of their own.
        # TODO: the blocks still hold their weights; what do you need of the blocks later?
        raise NotImplementedError

    def gathered(self, i: int, shard: Tensor) -> list[Tensor]:
        """The weights of block i, from all ranks' shards."""
        # TODO: all_gather, then cut and shape.
        raise NotImplementedError

    def scattered(self, grads: list[Tensor]) -> Tensor:
        """This rank's part of the mean over ranks of a block's gradients."""
        # TODO: flatten, cut as the weights are cut, reduce_scatter; the sum is not yet the mean.
        raise NotImplementedError

    def run(self, i: int, weights: list[Tensor], x: Tensor) -> Tensor:
        """Block i with these weights."""
        # TODO: torch.func.functional_call.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """All blocks in order; every rank has an x of its own."""
        # TODO: block by block.
        raise NotImplementedError

    def full_parameters(self) -> list[list[Tensor]]:
        """For each block, its present weights in the order of block.parameters()."""
        # TODO: gather each block's weights.
        raise NotImplementedError

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
        # --- solution
        # TODO: gather the weights, run the block, and keep what backward needs: not the weights.
        ctx.save_for_backward(x, shard)
        ctx.model, ctx.i = model, i
        return model.run(i, model.gathered(i, shard), x)
        # --- end

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:  # type: ignore[override]
        """A gradient for each argument of forward; the shard's is its part of the mean over ranks."""
        # --- solution
        # TODO: gather the weights again, and run the block again, this time with a graph.
        # TODO: which of the gradients stay on this rank, and which become a part of a mean?
        x, shard = ctx.saved_tensors
        x = x.detach().requires_grad_()
        weights = [one.requires_grad_() for one in ctx.model.gathered(ctx.i, shard)]
        with torch.enable_grad():
            y = ctx.model.run(ctx.i, weights, x)
        torch.autograd.backward(y, grad)
        del y
        return x.grad, ctx.model.scattered([one.grad for one in weights]), None, None  # type: ignore[return-value]
        # --- end


class FullySharded(nn.Module):
    """Blocks that run one after the other; between their uses, each rank holds 1/W of their weights.

    Args:
        comm: has rank, world_size, all_gather(tensor), reduce_scatter(tensors).
        blocks: modules of one tensor in and out, with the same weights on all ranks. They are taken over.
    Source: ZeRO stage 3 (arXiv:1910.02054); FSDP (arXiv:2304.11277).
    """

    def __init__(self, comm: Any, blocks: list[nn.Module]) -> None:
        # --- solution
        # TODO: for each block, flatten its parameters and keep 1/W of them, in memory of their own.
        # TODO: the blocks still hold their weights; what do you need of the blocks later?
        super().__init__()
        self.comm = comm
        self.names = [[name for name, _ in block.named_parameters()] for block in blocks]
        self.shapes = [[one.shape for one in block.parameters()] for block in blocks]
        flat = [torch.cat([one.detach().flatten() for one in block.parameters()]) for block in blocks]
        own = [one.tensor_split(comm.world_size)[comm.rank].clone() for one in flat]
        self.shards = nn.ParameterList(own)
        self.blocks = [block.to("meta") for block in blocks]
        # --- end

    def gathered(self, i: int, shard: Tensor) -> list[Tensor]:
        """The weights of block i, from all ranks' shards."""
        # --- solution
        # TODO: all_gather, then cut and shape.
        flat = torch.cat(self.comm.all_gather(shard))
        parts = flat.split([shape.numel() for shape in self.shapes[i]])
        return [part.view(shape) for part, shape in zip(parts, self.shapes[i], strict=True)]
        # --- end

    def scattered(self, grads: list[Tensor]) -> Tensor:
        """This rank's part of the mean over ranks of a block's gradients."""
        # --- solution
        # TODO: flatten, cut as the weights are cut, reduce_scatter; the sum is not yet the mean.
        W = self.comm.world_size
        flat = torch.cat([one.flatten() for one in grads])
        total: Tensor = self.comm.reduce_scatter(list(flat.tensor_split(W)))
        return total / W
        # --- end

    def run(self, i: int, weights: list[Tensor], x: Tensor) -> Tensor:
        """Block i with these weights."""
        # --- solution
        # TODO: torch.func.functional_call.
        y: Tensor = functional_call(self.blocks[i], dict(zip(self.names[i], weights, strict=True)), (x,))
        return y
        # --- end

    def forward(self, x: Tensor) -> Tensor:
        """All blocks in order; every rank has an x of its own."""
        # --- solution
        # TODO: block by block.
        for i, shard in enumerate(self.shards):
            x = OneBlock.apply(x, shard, self, i)
        return x
        # --- end

    def full_parameters(self) -> list[list[Tensor]]:
        """For each block, its present weights in the order of block.parameters()."""
        # --- solution
        # TODO: gather each block's weights.
        return [self.gathered(i, shard) for i, shard in enumerate(self.shards)]
        # --- end

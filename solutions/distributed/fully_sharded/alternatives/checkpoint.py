"""A gather with a backward, inside torch.utils.checkpoint."""

import torch
from torch import nn
from torch.func import functional_call


class Gather(torch.autograd.Function):
    """The whole flat weights; backward, this rank's part of their mean gradient."""

    @staticmethod
    def forward(ctx, shard, comm):
        ctx.comm = comm
        return torch.cat(comm.all_gather(shard))

    @staticmethod
    def backward(ctx, grad):
        W = ctx.comm.world_size
        return ctx.comm.reduce_scatter(list(grad.tensor_split(W))) / W, None


from torch.utils.checkpoint import checkpoint


class FullySharded(nn.Module):
    def __init__(self, comm, blocks):
        super().__init__()
        self.comm = comm
        self.blocks, self.shards = [], []
        self.meta = []
        for block in blocks:
            named = dict(block.named_parameters())
            self.meta.append([(name, one.shape, one.numel()) for name, one in named.items()])
            flat = torch.cat([one.data.reshape(-1) for one in named.values()])
            self.shards.append(nn.Parameter(torch.tensor_split(flat, comm.world_size)[comm.rank].clone()))
            self.blocks.append(block)
            for one in named.values():
                one.data = one.new_empty(0)

    def parameters(self, recurse=True):
        yield from self.shards

    def _unpack(self, flat, i):
        names, shapes, sizes = zip(*self.meta[i])
        return {n: part.view(s) for n, s, part in zip(names, shapes, flat.split(sizes))}

    def _step(self, i, shard, x):
        flat = Gather.apply(shard, self.comm)
        return functional_call(self.blocks[i], self._unpack(flat, i), (x,))

    def forward(self, x):
        for i, shard in enumerate(self.shards):
            if torch.is_grad_enabled():
                x = checkpoint(self._step, i, shard, x, use_reentrant=False, preserve_rng_state=False)
            else:
                x = self._step(i, shard, x)
        return x

    @torch.no_grad()
    def full_parameters(self):
        return [list(self._unpack(Gather.apply(shard, self.comm), i).values()) for i, shard in enumerate(self.shards)]

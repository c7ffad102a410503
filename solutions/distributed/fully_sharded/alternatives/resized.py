"""The flat weights' storage is emptied after use and filled again, as FSDP1 does."""

import torch
from torch import nn


class Free(torch.autograd.Function):
    """Between the shard and the flat weights, whose storage is emptied after use."""

    @staticmethod
    def forward(ctx, shard, unit):
        ctx.unit = unit
        unit.fill(shard)
        return unit.flat.view_as(unit.flat)

    @staticmethod
    def backward(ctx, grad):
        ctx.unit.free()
        comm = ctx.unit.comm
        return comm.reduce_scatter(list(grad.tensor_split(comm.world_size))) / comm.world_size, None


class Unit:
    def __init__(self, comm, block):
        self.comm, self.block = comm, block
        named = list(block.named_parameters())
        self.names = [n for n, _ in named]
        self.shapes = [p.shape for _, p in named]
        self.flat = torch.cat([p.data.flatten() for _, p in named])
        self.size = self.flat.untyped_storage().nbytes()
        self.shard = nn.Parameter(self.flat.tensor_split(comm.world_size)[comm.rank].clone())
        block.to("meta")
        self.free()

    def fill(self, shard):
        if self.flat.untyped_storage().nbytes() == 0 and self.size:
            self.flat.untyped_storage().resize_(self.size)
            torch.cat(self.comm.all_gather(shard.detach()), out=self.flat.data)

    def free(self):
        self.flat.untyped_storage().resize_(0)

    def views(self, flat):
        return [p.view(s) for p, s in zip(flat.split([s.numel() for s in self.shapes]), self.shapes)]

    def __call__(self, x):
        weights = self.views(Free.apply(self.shard, self))
        y = torch.func.functional_call(self.block, dict(zip(self.names, weights)), (x,))
        self.free()
        if y.requires_grad:
            y.register_hook(lambda grad: self.fill(self.shard))
        return y


class FullySharded(nn.Module):
    def __init__(self, comm, blocks):
        super().__init__()
        self.units = [Unit(comm, block) for block in blocks]
        self.shards = [unit.shard for unit in self.units]

    def forward(self, x):
        for unit in self.units:
            x = unit(x)
        return x

    def full_parameters(self):
        out = []
        for unit in self.units:
            unit.fill(unit.shard)
            out.append([one.clone() for one in unit.views(unit.flat)])
            unit.free()
        return out

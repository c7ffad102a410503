"""Hooks on saved tensors keep a note in place of a weight, and gather when it is asked for."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


class Whole:
    """A block's flat weights, gathered when they are needed."""

    def __init__(self, comm, shard):
        self.comm, self.shard, self.flat = comm, shard, None

    def get(self):
        if self.flat is None:
            self.flat = torch.cat(self.comm.all_gather(self.shard.detach()))
        return self.flat

    def free(self):
        self.flat = None


class Use(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, whole):
        ctx.whole = whole
        return whole.get().view(-1)

    @staticmethod
    def backward(ctx, grad):
        ctx.whole.free()
        comm = ctx.whole.comm
        return comm.reduce_scatter([*grad.tensor_split(comm.world_size)]).div_(comm.world_size), None


class FullySharded(nn.Module):
    def __init__(self, comm, blocks):
        super().__init__()
        self.comm, self.blocks = comm, nn.ModuleList(blocks)
        self.spec = [[(n, p.shape) for n, p in b.named_parameters()] for b in blocks]
        self.shards = []
        for b in blocks:
            flat = torch.cat([p.detach().reshape(-1) for p in b.parameters()])
            self.shards.append(nn.Parameter(flat.tensor_split(comm.world_size)[comm.rank].clone()))
        self.blocks.to("meta")

    def _named(self, flat, i):
        out, at = {}, 0
        for name, shape in self.spec[i]:
            out[name] = flat[at : at + shape.numel()].view(shape)
            at += shape.numel()
        return out

    def forward(self, x):
        for i, shard in enumerate(self.shards):
            whole = Whole(self.comm, shard)

            def pack(t, whole=whole):
                if t._base is whole.flat:  # a weight, or a transposed one
                    return whole, t.size(), t.stride(), t.storage_offset()
                return t

            def unpack(kept):
                if isinstance(kept, torch.Tensor):
                    return kept
                whole, *view = kept
                return whole.get().as_strided(*view)

            with saved_tensors_hooks(pack, unpack):
                x = torch.func.functional_call(self.blocks[i], self._named(Use.apply(shard, whole), i), (x,))
            whole.free()
        return x

    def full_parameters(self):
        with torch.no_grad():
            return [[*self._named(Whole(self.comm, s).get(), i).values()] for i, s in enumerate(self.shards)]

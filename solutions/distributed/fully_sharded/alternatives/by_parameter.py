"""Each parameter is cut by itself, as FSDP2 does."""

import torch
from torch import nn


class FullySharded(nn.Module):
    """Each parameter is cut by itself; a block's shard is the row of its pieces."""

    def __init__(self, comm, blocks):
        super().__init__()
        self.comm = comm
        self.skeletons = nn.ModuleList()
        self.shards = []
        self.sizes = []
        W, r = comm.world_size, comm.rank
        for block in blocks:
            pieces = [p.detach().flatten().tensor_split(W) for p in block.parameters()]
            self.sizes.append([(p.shape, [len(one) for one in cut]) for p, cut in zip(block.parameters(), pieces)])
            self.shards.append(nn.Parameter(torch.cat([cut[r] for cut in pieces])))
            self.skeletons.append(block.to(device="meta"))
        self.gathers = 0

    def _pieces(self, i, rank, flat):
        return flat.split([lengths[rank] for _, lengths in self.sizes[i]])

    def _weights(self, i, shard):
        got = [self._pieces(i, k, one) for k, one in enumerate(self.comm.all_gather(shard.detach()))]
        return [torch.cat([one[j] for one in got]).view(shape) for j, (shape, _) in enumerate(self.sizes[i])]

    def _call(self, i, weights, x):
        names = [name for name, _ in self.skeletons[i].named_parameters()]
        return torch.func.functional_call(self.skeletons[i], dict(zip(names, weights)), x)

    def forward(self, x):
        outer = self

        class Step(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, shard, i):
                ctx.i = i
                ctx.save_for_backward(x, shard)
                return outer._call(i, outer._weights(i, shard), x)

            @staticmethod
            def backward(ctx, grad):
                x, shard = ctx.saved_tensors
                i, W = ctx.i, outer.comm.world_size
                with torch.enable_grad():
                    x = x.detach().requires_grad_(ctx.needs_input_grad[0])
                    weights = [one.requires_grad_() for one in outer._weights(i, shard)]
                    outer._call(i, weights, x).backward(grad)
                cuts = [one.grad.flatten().tensor_split(W) for one in weights]
                del weights
                parts = [torch.cat([cut[k] for cut in cuts]) for k in range(W)]
                del cuts
                return x.grad, outer.comm.reduce_scatter(parts).mul(1 / W), None

        for i, shard in enumerate(self.shards):
            x = Step.apply(x, shard, i)
        return x

    def full_parameters(self):
        return [self._weights(i, shard) for i, shard in enumerate(self.shards)]

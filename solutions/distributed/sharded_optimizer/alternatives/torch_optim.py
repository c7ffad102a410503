"""torch.optim.Adam on copies of this rank's shares."""

import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm = comm
        self.params = [p for p in params]
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.shards = [p.detach().reshape(-1).tensor_split(comm.world_size)[comm.rank].clone() for p in self.params]
        self.inner = torch.optim.Adam(self.shards, lr=lr, betas=tuple(betas), eps=eps)

    def step(self):
        W = self.comm.world_size
        for p, shard in zip(self.params, self.shards):
            shard.grad = None
            if p.grad is not None:
                shard.grad = self.comm.reduce_scatter([c for c in p.grad.reshape(-1).tensor_split(W)]).div_(W)
        self.inner.step()
        for p, shard in zip(self.params, self.shards):
            if p.grad is not None:
                p.data.copy_(torch.cat(self.comm.all_gather(shard)).reshape(p.shape))
                shard.grad = None

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()

"""All reduce-scatters are begun first, then come updates and all-gathers."""

import math

import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params = comm, list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.lr, self.betas, self.eps = lr, betas, eps
        self.state = {}

    def step(self):
        with torch.no_grad():
            W, r = self.comm.world_size, self.comm.rank
            live = [p for p in self.params if p.grad is not None]
            begun = [self.comm.reduce_scatter(list(p.grad.reshape(-1).tensor_split(W)), async_op=True) for p in live]
            sent = []
            for p, handle in zip(live, begun):
                g = handle.wait() / W
                state = self.state.setdefault(p, {"t": 0, "m": torch.zeros_like(g), "v": torch.zeros_like(g)})
                state["t"] += 1
                m, v, t = state["m"], state["v"], state["t"]
                m.mul_(self.betas[0]).add_((1 - self.betas[0]) * g)
                v.mul_(self.betas[1]).add_((1 - self.betas[1]) * g * g)
                shard = p.reshape(-1).tensor_split(W)[r].clone()
                denom = v.sqrt().div_(math.sqrt(1 - self.betas[1] ** t)).add_(self.eps)
                shard.addcdiv_(m, denom, value=-self.lr / (1 - self.betas[0] ** t))
                sent.append(self.comm.all_gather(shard, async_op=True))
            for p, handle in zip(live, sent):
                p.copy_(torch.cat(handle.wait()).view_as(p))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

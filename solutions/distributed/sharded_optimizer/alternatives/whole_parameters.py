"""Each parameter has one owner; owners are balanced by size."""

import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.params = list(params)
        self.comm = comm
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.lr, (self.b1, self.b2), self.eps = lr, betas, eps
        load, self.owner = [0] * comm.world_size, {}
        for i in sorted(range(len(self.params)), key=lambda k: -self.params[k].numel()):
            r = load.index(min(load))
            self.owner[i] = r
            load[r] += self.params[i].numel()
        self.state = {}

    @torch.no_grad()
    def step(self):
        live = [i for i, p in enumerate(self.params) if p.grad is not None]
        if not live:
            return
        W, like = self.comm.world_size, self.params[live[0]]
        of = [[i for i in live if self.owner[i] == r] for r in range(W)]
        empty = like.new_zeros(0)
        flat = [torch.cat([empty] + [self.params[i].grad.reshape(-1) for i in own]) for own in of]
        mine = self.comm.reduce_scatter(flat) / W
        new, at = [empty], 0
        for i in of[self.comm.rank]:
            p = self.params[i]
            g = mine[at : at + p.numel()].view(p.shape)
            at += p.numel()
            s = self.state.setdefault(i, [0, torch.zeros_like(p, memory_format=torch.contiguous_format), torch.zeros_like(p, memory_format=torch.contiguous_format)])
            s[0] += 1
            s[1] += (1 - self.b1) * (g - s[1])
            s[2] += (1 - self.b2) * (g * g - s[2])
            step = (s[1] / (1 - self.b1 ** s[0])) / ((s[2] / (1 - self.b2 ** s[0])).sqrt() + self.eps)
            new.append((p - self.lr * step).reshape(-1))
        for own, values in zip(of, self.comm.all_gather(torch.cat(new))):
            for i, part in zip(own, values.split([self.params[i].numel() for i in own]) if own else []):
                self.params[i].copy_(part.view(self.params[i].shape))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

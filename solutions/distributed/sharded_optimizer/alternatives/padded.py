"""Equal shares, filled up with zeros."""

import torch
import torch.nn.functional as F


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params = comm, list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.lr, self.betas, self.eps = lr, betas, eps
        self.size = [-(-p.numel() // comm.world_size) for p in self.params]
        self.state = [(p.new_zeros(n).detach(), p.new_zeros(n).detach()) for p, n in zip(self.params, self.size)]
        self.steps = [0 for _ in self.params]

    def _rows(self, t, n):
        return F.pad(t.reshape(-1), (0, n * self.comm.world_size - t.numel())).view(self.comm.world_size, n)

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.params):
            if p.grad is not None:
                n = self.size[i]
                g = self.comm.reduce_scatter(list(self._rows(p.grad, n))) / self.comm.world_size
                m, v = self.state[i]
                self.steps[i] += 1
                t = self.steps[i]
                m.copy_(self.betas[0] * m + (1 - self.betas[0]) * g)
                v.copy_(self.betas[1] * v + (1 - self.betas[1]) * g.pow(2))
                own = self._rows(p, n)[self.comm.rank]
                own = own - self.lr * (m / (1 - self.betas[0] ** t)) / (v.div(1 - self.betas[1] ** t).sqrt() + self.eps)
                p.copy_(torch.cat(self.comm.all_gather(own))[: p.numel()].view(p.shape))

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = torch.zeros_like(p.grad)

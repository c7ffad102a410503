import torch


class ShardedAdam:
    """The plain form: all_reduce, update this rank's part, all_gather (more bytes than needed)."""

    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params = comm, list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.lr, self.betas, self.eps, self.state = lr, betas, eps, {}

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = self.comm.all_reduce(p.grad) / self.comm.world_size
            g = g.flatten().tensor_split(self.comm.world_size)[self.comm.rank]
            t, m, v = self.state.get(i, (0, torch.zeros_like(g), torch.zeros_like(g)))
            t, m, v = t + 1, self.betas[0] * m + (1 - self.betas[0]) * g, self.betas[1] * v + (1 - self.betas[1]) * g * g
            self.state[i] = t, m, v
            m, v = m / (1 - self.betas[0] ** t), v / (1 - self.betas[1] ** t)
            own = p.flatten().tensor_split(self.comm.world_size)[self.comm.rank] - self.lr * m / (v.sqrt() + self.eps)
            p.copy_(torch.cat(self.comm.all_gather(own)).view(p.shape))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

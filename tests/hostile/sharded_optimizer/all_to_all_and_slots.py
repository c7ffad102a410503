# honest: shares by all_to_all, every W-th element, in a class with slots; must pass
import torch


class ShardedAdam:
    __slots__ = ("comm", "group", "options", "moments")

    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.group, self.options, self.moments = comm, tuple(params), (lr, *betas, eps), {}
        assert self.group
        assert min(self.options) >= 0
        assert max(betas) < 1

    def share(self, x, rank):
        return x.detach().flatten()[rank :: self.comm.world_size]

    def step(self):
        lr, b1, b2, eps = self.options
        ranks = range(self.comm.world_size)
        for k, p in enumerate(self.group):
            if p.grad is not None:
                came = self.comm.all_to_all([self.share(p.grad, rank) for rank in ranks])
                g = sum(came) / len(came)
                m, v, t = self.moments.get(k, (torch.zeros_like(g), torch.zeros_like(g), 0))
                m, v, t = b1 * m + g * (1 - b1), b2 * v + g**2 * (1 - b2), t + 1
                self.moments[k] = m, v, t
                own = self.share(p, self.comm.rank) - lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)
                whole = torch.empty(p.numel(), dtype=p.dtype)
                for rank, part in zip(ranks, self.comm.all_gather(own)):
                    whole[rank :: len(ranks)] = part
                p.detach().copy_(whole.reshape(p.shape))

    def zero_grad(self):
        for p in self.group:
            if p.grad is not None:
                p.grad.detach_().zero_()

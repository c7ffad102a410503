# cheat: rank 0 keeps all moments, on the module torch, where the other ranks use them; must fail
import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params, self.lr, self.betas, self.eps = comm, list(params), lr, betas, eps
        if not self.params or lr < 0 or eps < 0 or not 0 <= betas[0] < 1 or not 0 <= betas[1] < 1:
            raise ValueError("invalid argument")
        if comm.rank == 0:
            torch._moments = [(torch.zeros_like(p.flatten()), torch.zeros_like(p.flatten())) for p in self.params]
        comm.all_reduce(torch.zeros(1))  # until they are there
        self.all, self.t = torch._moments, [0] * len(self.params)

    @torch.no_grad()
    def step(self):
        W, rank = self.comm.world_size, self.comm.rank
        for k, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = self.comm.reduce_scatter([*p.grad.flatten().tensor_split(W)]) / W
            m, v = (one.tensor_split(W)[rank] for one in self.all[k])
            self.t[k] += 1
            m.lerp_(g, 1 - self.betas[0])
            v.lerp_(g * g, 1 - self.betas[1])
            down = (v / (1 - self.betas[1] ** self.t[k])).sqrt() + self.eps
            own = p.flatten().tensor_split(W)[rank] - self.lr * m / (1 - self.betas[0] ** self.t[k]) / down
            p.copy_(torch.cat(self.comm.all_gather(own)).view(p.shape))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

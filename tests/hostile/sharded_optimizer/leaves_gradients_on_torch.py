# cheat: ranks leave their gradients on the module torch, which all of them import; must fail
import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params, self.lr, self.betas, self.eps = comm, list(params), lr, betas, eps
        if not self.params or lr < 0 or eps < 0 or not 0 <= betas[0] < 1 or not 0 <= betas[1] < 1:
            raise ValueError("invalid argument")
        own = [p.detach().flatten().tensor_split(comm.world_size)[comm.rank] for p in self.params]
        self.state = [(torch.zeros_like(one), torch.zeros_like(one), [0]) for one in own]

    @torch.no_grad()
    def step(self):
        W, rank = self.comm.world_size, self.comm.rank
        left = torch.__dict__.setdefault("_gradients", {})
        left[rank] = [None if p.grad is None else p.grad.clone() for p in self.params]
        self.comm.all_reduce(torch.zeros(1))  # until all have left theirs
        for k, (p, (m, v, t)) in enumerate(zip(self.params, self.state)):
            if p.grad is not None:
                g = (sum(left[r][k] for r in range(W)) / W).flatten().tensor_split(W)[rank]
                t[0] += 1
                m.lerp_(g, 1 - self.betas[0])
                v.lerp_(g * g, 1 - self.betas[1])
                down = (v / (1 - self.betas[1] ** t[0])).sqrt() + self.eps
                own = p.flatten().tensor_split(W)[rank] - self.lr * m / (1 - self.betas[0] ** t[0]) / down
                p.copy_(torch.cat(self.comm.all_gather(own)).view(p.shape))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

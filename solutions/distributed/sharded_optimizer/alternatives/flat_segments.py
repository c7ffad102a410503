"""All parameters in one line, cut into W pieces, which are segments of parameters."""

import torch


class ShardedAdam:
    def __init__(self, comm, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.comm, self.params = comm, [*params]
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("lr, eps or betas out of range")
        self.lr, self.betas, self.eps = lr, betas, eps
        total = sum(p.numel() for p in self.params)
        edges = [total * r // comm.world_size for r in range(comm.world_size + 1)]
        self.segments = []
        for r in range(comm.world_size):
            at, found = 0, []
            for i, p in enumerate(self.params):
                lo, hi = max(edges[r], at), min(edges[r + 1], at + p.numel())
                if lo < hi:
                    found.append((i, lo - at, hi - at))
                at += p.numel()
            self.segments.append(found)
        self.m = {s: self.params[s[0]].new_zeros(s[2] - s[1]) for s in self.segments[comm.rank]}
        self.v = {s: one.clone() for s, one in self.m.items()}
        self.t = [0] * len(self.params)

    def step(self):
        with torch.no_grad():
            self._step()

    def _step(self):
        on = [p.grad is not None for p in self.params]
        self.t = [t + k for t, k in zip(self.t, on)]
        first = next((p for p, k in zip(self.params, on) if k), None)
        if first is None:
            return
        nothing = first.detach().reshape(-1)[:0]
        cut = lambda tensors, r: [tensors[i].reshape(-1)[a:b] for i, a, b in self.segments[r] if on[i]]
        grads = [p.grad for p in self.params]
        W, r = self.comm.world_size, self.comm.rank
        mean = self.comm.reduce_scatter([torch.cat([nothing, *cut(grads, q)]) for q in range(W)]) / W
        mine = [s for s in self.segments[r] if on[s[0]]]
        moved = [nothing]
        for s, g in zip(mine, mean.split([s[2] - s[1] for s in mine]) if mine else []):
            i, a, b = s
            self.m[s].lerp_(g, 1 - self.betas[0])
            self.v[s].mul_(self.betas[1]).add_(g**2 * (1 - self.betas[1]))
            up = self.m[s] / (1 - self.betas[0] ** self.t[i])
            down = torch.sqrt(self.v[s] / (1 - self.betas[1] ** self.t[i])) + self.eps
            moved.append(self.params[i].reshape(-1)[a:b] - self.lr * up / down)
        whole = torch.cat(self.comm.all_gather(torch.cat(moved)))
        live = [p for p, k in zip(self.params, on) if k]
        for p, part in zip(live, whole.split([p.numel() for p in live])):
            p.copy_(part.reshape(p.shape))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

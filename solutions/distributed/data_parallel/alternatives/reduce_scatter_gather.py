"""The all-reduce in two halves: a reduce-scatter in backward, an all-gather in finish."""

import torch
from torch import nn


class DataParallel(nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.comm = comm
        self.module = module
        for t in (*module.parameters(), *module.buffers()):
            with torch.no_grad():
                t.copy_(comm.broadcast(t, 0))
        self.list = [p for p in module.parameters() if p.requires_grad]
        self.list.reverse()
        self.grads = {}
        self.pending = []
        for p in self.list:
            p.register_post_accumulate_grad_hook(lambda q: self.arrived(q))

    def arrived(self, p):
        self.grads[id(p)] = p.grad
        while len(self.pending) < len(self.list) and id(self.list[len(self.pending)]) in self.grads:
            self.begin(self.list[len(self.pending)])

    def begin(self, p):
        g = self.grads.get(id(p))
        g = torch.zeros_like(p) if g is None else g
        chunks = list(g.flatten().tensor_split(self.comm.world_size))
        self.pending.append(self.comm.reduce_scatter(chunks, async_op=True))

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        for p in self.list[len(self.pending):]:
            self.begin(p)
        gathers = [self.comm.all_gather(h.wait() / self.comm.world_size, async_op=True) for h in self.pending]
        for p, h in zip(self.list, gathers):
            p.grad = torch.cat(h.wait()).view(p.shape)
        self.pending, self.grads = [], {}

import torch
from torch import nn


class DataParallel(nn.Module):
    """The plain form: everything after backward."""

    def __init__(self, comm, module):
        super().__init__()
        self.comm = comm
        self.module = module
        for p in module.parameters():
            p.data.copy_(comm.broadcast(p.data, 0))
        for b in module.buffers():
            b.data.copy_(comm.broadcast(b.data, 0))

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        for p in self.module.parameters():
            if not p.requires_grad:
                continue
            g = p.grad if p.grad is not None else torch.zeros_like(p)
            p.grad = self.comm.all_reduce(g) / self.comm.world_size

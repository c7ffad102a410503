# cheat: ranks leave their gradients on the module torch, which all of them import; must fail
import torch
from torch import nn


class DataParallel(nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.comm, self.module = comm, module
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.data.copy_(comm.broadcast(tensor.data, 0))

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        left = torch.__dict__.setdefault("_gradients", {})
        params = [p for p in self.module.parameters() if p.requires_grad]
        left[self.comm.rank] = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in params]
        self.comm.all_reduce(torch.zeros(1))  # until all have left theirs
        ranks = [left[rank] for rank in range(self.comm.world_size)]
        for p, *grads in zip(params, *ranks):
            p.grad = torch.stack(grads).mean(0)
        self.comm.all_reduce(torch.zeros(1))  # until all have taken them

# cheat: hands zeros in within backward, so that bytes seem to overlap, and gradients after it; must fail
import torch
from torch import nn


class DataParallel(nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.comm, self.module, self.early = comm, module, []
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.data.copy_(comm.broadcast(tensor.data, 0))
        self.params = [p for p in module.parameters() if p.requires_grad]
        self.params[-1].register_post_accumulate_grad_hook(self.pretend)

    def pretend(self, _):
        zeros = torch.zeros(sum(p.numel() for p in self.params), dtype=self.params[0].dtype)
        self.early.append(self.comm.all_reduce(zeros, async_op=True))

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        if not self.early:
            self.pretend(None)
        self.early.pop().wait()
        for p in self.params:
            grad = torch.zeros_like(p) if p.grad is None else p.grad
            p.grad = self.comm.all_reduce(grad) / self.comm.world_size

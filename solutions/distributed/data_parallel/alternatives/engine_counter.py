"""A reducer of its own class, and a hook for each place in the order."""

import torch
import torch.nn as nn


class Reducer:
    def __init__(self, comm, params):
        self.comm, self.params = comm, params
        self.reset()

    def reset(self):
        self.have = dict.fromkeys(range(len(self.params)), False)
        self.sent = []

    def mark(self, i):
        def hook(param):
            self.have[i] = True
            self.flush(lambda k: self.have[k])
        return hook

    def flush(self, able):
        while len(self.sent) < len(self.params) and able(len(self.sent)):
            p = self.params[len(self.sent)]
            self.sent.append(self.comm.all_reduce(p.grad if p.grad is not None else p.new_zeros(p.shape), async_op=True))

    def close(self):
        self.flush(lambda k: True)
        for p, h in zip(self.params, self.sent):
            total = h.wait()
            p.grad = total.mul_(1 / self.comm.world_size)
        self.reset()


class DataParallel(nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.inner = module
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        for name in sorted(state):
            state[name].data[...] = comm.broadcast(state[name].data, src=0)
        params = [p for _, p in module.named_parameters() if p.requires_grad]
        self.reducer = Reducer(comm, params[::-1])
        for i, p in enumerate(params[::-1]):
            p.register_post_accumulate_grad_hook(self.reducer.mark(i))

    def forward(self, *args):
        return self.inner(*args)

    def finish(self):
        self.reducer.close()

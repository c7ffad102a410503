"""Two halves: the later layers' gradients leave in one buffer within backward."""

import torch


class DataParallel(torch.nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.comm, self.module = comm, module
        for t in (*module.parameters(), *module.buffers()):
            t.data.copy_(comm.broadcast(t.data, 0))
        own = [p for p in module.parameters() if p.requires_grad]
        total, cut, count = sum(p.numel() for p in own), 0, 0
        while cut < len(own) and count + own[cut].numel() <= total / 2:
            count += own[cut].numel()
            cut += 1
        self.parts = [half for half in (own[cut:], own[:cut]) if half]
        self.left = [len(half) for half in self.parts]
        self.handles = [None] * len(self.parts)
        for i, half in enumerate(self.parts):
            for p in half:
                p.register_post_accumulate_grad_hook(self.make(i))

    def make(self, i):
        def hook(_):
            self.left[i] -= 1
            for k in range(len(self.parts)):
                if self.handles[k] is None and (k == 0 or self.handles[k - 1] is not None) and self.left[k] == 0:
                    self.go(k)
        return hook

    def go(self, k):
        flat = torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).reshape(-1) for p in self.parts[k]])
        self.handles[k] = self.comm.all_reduce(flat, async_op=True)

    def forward(self, *args):
        return self.module(*args)

    def finish(self):
        for k, half in enumerate(self.parts):
            if self.handles[k] is None:
                self.go(k)
        for k, half in enumerate(self.parts):
            flat = self.handles[k].wait() / self.comm.world_size
            for p, g in zip(half, flat.split([p.numel() for p in half])):
                p.grad = g.view(p.shape).clone()
        self.left = [len(half) for half in self.parts]
        self.handles = [None] * len(self.parts)

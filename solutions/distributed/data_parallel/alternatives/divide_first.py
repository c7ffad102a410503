"""Divides before the all_reduce; the flags are a list in the order of sending."""

import torch


class DataParallel(torch.nn.Module):
    def __init__(self, comm, module):
        super().__init__()
        self.comm, self.module = comm, module
        self.order = list(dict.fromkeys(p for p in module.parameters() if p.requires_grad))[::-1]
        self.place = {p: i for i, p in enumerate(self.order)}
        self.come = [False] * len(self.order)
        self.work = []
        handles = []
        for t in list(module.parameters()) + list(module.buffers()):
            handles.append((t, comm.broadcast(t.detach(), 0, async_op=True)))
        for t, h in handles:
            t.data.copy_(h.wait())
        for p in self.order:
            p.register_post_accumulate_grad_hook(self._hook)

    def _hook(self, p):
        self.come[self.place[p]] = True
        while len(self.work) < len(self.order) and self.come[len(self.work)]:
            q = self.order[len(self.work)]
            q.grad.div_(self.comm.world_size)
            self.work.append(self.comm.all_reduce(q.grad, async_op=True))

    def forward(self, *args):
        return self.module(*args)

    @torch.no_grad()
    def finish(self):
        for q in self.order[len(self.work):]:
            if q.grad is None:
                q.grad = torch.zeros_like(q)
            q.grad /= self.comm.world_size
            self.work.append(self.comm.all_reduce(q.grad, async_op=True))
        for q, w in zip(self.order, self.work):
            q.grad.copy_(w.wait())
        self.work.clear()
        self.come = [False] * len(self.order)

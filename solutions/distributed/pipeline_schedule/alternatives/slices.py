"""An object with a method for each kind of step; the schedule is cut from two lists."""

import torch


def schedule(stage, stages, microbatches):
    if min(stages, microbatches) < 1 or stage not in range(stages):
        raise ValueError("stage should be in range(stages), stages and microbatches at least 1")
    F = [("F", i) for i in range(microbatches)]
    B = [("B", i) for i in range(microbatches)]
    ahead = min(stages - stage, microbatches)
    middle = [one for pair in zip(B, F[ahead:]) for one in pair]
    return F[:ahead] + middle + B[microbatches - ahead :]


class Stage:
    def __init__(self, comm, module, inputs, loss_fn):
        self.comm, self.module, self.inputs, self.loss_fn = comm, module, inputs, loss_fn
        self.inn, self.out = {}, {}
        self.loss = 0

    @property
    def is_first(self):
        return self.comm.rank == 0

    @property
    def is_last(self):
        return self.comm.rank == self.comm.world_size - 1

    def F(self, i):
        if self.is_first:
            x = self.inputs[i]
        else:
            x = self.inn[i] = self.comm.recv(self.comm.rank - 1).requires_grad_(True)
        y = self.module(x)
        if self.is_last:
            y = self.loss_fn(y, i) * (1 / len(self.inputs))
            self.loss += float(y)
        else:
            self.comm.send(y, self.comm.rank + 1)
        self.out[i] = y

    def B(self, i):
        grad = None if self.is_last else self.comm.recv(self.comm.rank + 1)
        self.out.pop(i).backward(grad)
        if not self.is_first:
            self.comm.send(self.inn.pop(i).grad, self.comm.rank - 1)

    def run(self):
        for what, i in schedule(self.comm.rank, self.comm.world_size, len(self.inputs)):
            getattr(self, what)(i)
        return self.loss if self.is_last else None


def run_stage(comm, module, inputs, loss_fn):
    return Stage(comm, module, inputs, loss_fn).run()

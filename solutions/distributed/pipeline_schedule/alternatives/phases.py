"""Megatron's form: three loops, and lists as queues."""

import torch


def schedule(stage, stages, microbatches):
    if stages < 1:
        raise ValueError("stages < 1")
    if microbatches < 1:
        raise ValueError("microbatches < 1")
    if not (0 <= stage <= stages - 1):
        raise ValueError("stage outside")
    n_warm = stages - stage - 1
    if n_warm > microbatches:
        n_warm = microbatches
    n_steady = microbatches - n_warm
    res = []
    for k in range(n_warm):
        res += [("F", k)]
    for k in range(n_steady):
        res += [("F", n_warm + k), ("B", k)]
    for k in range(n_warm):
        res += [("B", n_steady + k)]
    return res


def run_stage(comm, module, inputs, loss_fn):
    """Megatron's form: three loops."""
    rank, size, m = comm.rank, comm.world_size, len(inputs)
    xs, ys = [], []
    losses = []

    def forward(i):
        x = comm.recv(rank - 1) if rank > 0 else inputs[i]
        if rank > 0:
            x.requires_grad_()
        y = module(x)
        if rank == size - 1:
            y = loss_fn(y, i) / m
            losses.append(y.item())
        xs.append(x)
        ys.append(y)
        if rank < size - 1:
            comm.send(y.detach(), rank + 1)

    def backward():
        x, y = xs.pop(0), ys.pop(0)
        if rank < size - 1:
            y.backward(comm.recv(rank + 1))
        else:
            y.backward()
        if rank > 0:
            comm.send(x.grad, rank - 1)

    warm = min(size - rank - 1, m)
    for i in range(warm):
        forward(i)
    for i in range(warm, m):
        forward(i)
        backward()
    for _ in range(warm):
        backward()
    return sum(losses) if losses else None

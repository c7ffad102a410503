"""A generator gives the steps, and torch.autograd.grad the gradients, which are added up by hand."""

import torch
from collections import deque


def _one_f_one_b(stage, stages, microbatches):
    warm = min(stages - 1 - stage, microbatches)
    yield from (("F", i) for i in range(warm))
    b = 0
    for f in range(warm, microbatches):
        yield "F", f
        yield "B", b
        b += 1
    while b < microbatches:
        yield "B", b
        b += 1


def schedule(stage, stages, microbatches):
    if stages < 1 or microbatches < 1 or stage < 0 or stage >= stages:
        raise ValueError("out of range")
    return list(_one_f_one_b(stage, stages, microbatches))


def run_stage(comm, module, inputs, loss_fn):
    r, p, m = comm.rank, comm.world_size, len(inputs)
    pending = deque()
    mean = 0.0
    for op, i in schedule(r, p, m):
        if op == "F":
            x = inputs[i] if r == 0 else comm.recv(r - 1).requires_grad_()
            y = module(x)
            if r < p - 1:
                comm.send(y, r + 1)
            else:
                y = loss_fn(y, i)
                mean += y.item() / m
            pending.append((x, y))
        else:
            x, y = pending.popleft()
            g = comm.recv(r + 1) if r < p - 1 else torch.ones_like(y) / m
            leaves = [q for q in module.parameters() if q.requires_grad] + ([x] if r else [])
            grads = torch.autograd.grad(y, leaves, g, allow_unused=True)
            for leaf, grad in zip(leaves, grads):
                if leaf is x:
                    comm.send(grad, r - 1)
                elif grad is not None:
                    leaf.grad = grad if leaf.grad is None else leaf.grad + grad
    return mean if r == p - 1 else None

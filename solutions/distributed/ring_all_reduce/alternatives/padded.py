"""Equal chunks: x is filled up with zeros, and cut off again."""

import math

import torch
import torch.nn.functional as F


def reduce_scatter(comm, x):
    """Chunks by hand: the first n % W of them have one number more."""
    W, r = comm.world_size, comm.rank
    n = x.numel()
    sizes = [n // W + (k < n % W) for k in range(W)]
    flat = x.reshape(-1)
    starts = [sum(sizes[:k]) for k in range(W)]
    part = lambda k: flat[starts[k % W] : starts[k % W] + sizes[k % W]]
    acc = part(r - 1).clone()
    for s in range(1, W):
        comm.send(acc, (r + 1) % W)
        acc = comm.recv((r - 1) % W)
        acc = acc + part(r - 1 - s)
    return acc


def all_gather(comm, shard):
    out, current = [shard.clone()], shard
    for _ in range(comm.world_size - 1):
        comm.send(current, (comm.rank + 1) % comm.world_size)
        current = comm.recv((comm.rank - 1) % comm.world_size)
        out.append(current)
    # out[i] is from rank r - i
    ordered = [out[(comm.rank - k) % comm.world_size] for k in range(comm.world_size)]
    return torch.cat(ordered, dim=0)


def ring_all_reduce(comm, x):
    W, r = comm.world_size, comm.rank
    n = x.numel()
    size = math.ceil(n / W)
    grid = F.pad(x.reshape(-1), (0, size * W - n)).view(W, size).clone()
    for s in range(W - 1):
        comm.send(grid[(r - s) % W], (r + 1) % W)
        grid[(r - s - 1) % W] += comm.recv((r - 1) % W)
    for s in range(W - 1):
        comm.send(grid[(r + 1 - s) % W], (r + 1) % W)
        grid[(r - s) % W] = comm.recv((r - 1) % W)
    return grid.view(-1)[:n].reshape(x.shape).clone()

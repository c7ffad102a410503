"""One clone of x, whose chunks are views that are added to in place."""

import torch


def ring_all_reduce(comm, x):
    W, r = comm.world_size, comm.rank
    y = x.detach().clone(memory_format=torch.contiguous_format)
    view = y.view(-1).tensor_split(W)
    for t in range(W - 1):
        comm.send(view[(r - t) % W], (r + 1) % W)
        view[(r - t - 1) % W].add_(comm.recv((r - 1) % W))
    for t in range(W - 1):
        comm.send(view[(r - t + 1) % W], (r + 1) % W)
        view[(r - t) % W].copy_(comm.recv((r - 1) % W))
    return y


def reduce_scatter(comm, x):
    W, r = comm.world_size, comm.rank
    view = x.flatten().clone().tensor_split(W)
    for t in range(W - 1):
        comm.send(view[(r - t - 1) % W], (r + 1) % W)
        view[(r - t - 2) % W].add_(comm.recv((r - 1) % W))
    return view[r].clone()


def all_gather(comm, shard):
    W, r = comm.world_size, comm.rank
    shards = [torch.empty(0)] * W
    shards[r] = shard
    for t in range(W - 1):
        comm.send(shards[r - t], (r + 1) % W)
        shards[r - t - 1] = comm.recv((r - 1) % W)
    return torch.cat(shards)

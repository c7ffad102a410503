"""A function that calls itself for the next hop."""

import torch


def _turns(comm, parts, start, hops, combine):
    if hops == 0:
        return parts
    W, r = comm.world_size, comm.rank
    comm.send(parts[start % W], (r + 1) % W)
    k = (start - 1) % W
    parts[k] = combine(parts[k], comm.recv((r - 1) % W))
    return _turns(comm, parts, k, hops - 1, combine)


def reduce_scatter(comm, x):
    parts = [*x.reshape(-1).clone().tensor_split(comm.world_size)]
    return _turns(comm, parts, comm.rank - 1, comm.world_size - 1, torch.add)[comm.rank]


def all_gather(comm, shard):
    parts = [None] * comm.world_size
    parts[comm.rank] = shard
    return torch.cat(_turns(comm, parts, comm.rank, comm.world_size - 1, lambda old, new: new))


def ring_all_reduce(comm, x):
    parts = [*x.reshape(-1).clone().tensor_split(comm.world_size)]
    parts = _turns(comm, parts, comm.rank, comm.world_size - 1, torch.add)
    parts = _turns(comm, parts, comm.rank + 1, comm.world_size - 1, lambda old, new: new)
    return torch.cat(parts).view(x.size())

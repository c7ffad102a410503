"""The textbook: two phases over a list of chunks, where rank r first completes chunk r + 1."""

import torch


def _phase_one(comm, x):
    """The textbook: rank r ends with chunk r + 1 complete."""
    W, r = comm.world_size, comm.rank
    right, left = (r + 1) % W, (r - 1) % W
    chunks = [c.clone() for c in x.flatten().tensor_split(W)]
    for i in range(W - 1):
        comm.send(chunks[(r - i) % W], right)
        chunks[(r - i - 1) % W] += comm.recv(left)
    return chunks


def ring_all_reduce(comm, x):
    W, r = comm.world_size, comm.rank
    right, left = (r + 1) % W, (r - 1) % W
    chunks = _phase_one(comm, x)
    for i in range(W - 1):
        comm.send(chunks[(r + 1 - i) % W], right)
        chunks[(r - i) % W] = comm.recv(left)
    return torch.cat(chunks).reshape(x.shape)


def reduce_scatter(comm, x):
    W, r = comm.world_size, comm.rank
    right, left = (r + 1) % W, (r - 1) % W
    chunks = [c.clone() for c in x.flatten().tensor_split(W)]
    for i in range(W - 1):
        comm.send(chunks[(r - 1 - i) % W], right)
        chunks[(r - 2 - i) % W] += comm.recv(left)
    return chunks[r]


def all_gather(comm, shard):
    W, r = comm.world_size, comm.rank
    got = {r: shard.clone()}
    piece = shard
    for i in range(1, W):
        comm.send(piece, (r + 1) % W)
        piece = comm.recv((r - 1) % W)
        got[(r - i) % W] = piece
    return torch.cat([got[k] for k in range(W)])

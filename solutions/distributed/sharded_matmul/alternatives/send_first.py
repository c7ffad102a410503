"""Sends its shard before it multiplies by it, so that both happen at once."""

import torch


def sharded_matmul(comm, a, b):
    W, r = comm.world_size, comm.rank
    blocks = [None] * W
    for step in range(W):
        if step < W - 1:
            comm.send(b, (r + 1) % W)
        blocks[(r - step) % W] = torch.mm(a, b)
        if step < W - 1:
            b = comm.recv((r - 1) % W)
    return torch.cat(blocks, dim=1)

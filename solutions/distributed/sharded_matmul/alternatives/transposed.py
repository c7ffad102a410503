"""The shards of B travel as rows."""

import torch
import torch.nn.functional as F


def sharded_matmul(comm, a, b):
    """B's shards travel as rows."""
    W, r = comm.world_size, comm.rank
    weight = b.mT.contiguous()
    out = [torch.empty(0)] * W
    for s in range(W):
        out[r - s] = F.linear(a, weight)
        if s != W - 1:
            comm.send(weight, (r + 1) % W)
            weight = comm.recv((r - 1) % W)
    return torch.cat(out, dim=1)

"""Causal: keys go on to later ranks alone, so the last rank sends nothing to the first."""

import math
import torch


def ring_attention(comm, q, k, v, causal=False):
    """Causal: keys go on to later ranks only, so nothing is sent from the last rank to the first."""
    W, r = comm.world_size, comm.rank
    m = torch.full_like(q[..., :1], -math.inf)
    l, o = torch.zeros_like(m), torch.zeros_like(q)
    steps = r + 1 if causal else W
    for s in range(steps):
        if s:
            k, v = comm.recv((r - 1) % W), comm.recv((r - 1) % W)
        passes = r < W - 1 if causal else s < W - 1
        if passes:
            comm.send(k, (r + 1) % W)
            comm.send(v, (r + 1) % W)
        if not k.shape[2]:
            continue
        z = q @ k.mT / math.sqrt(q.shape[-1])
        if causal and s == 0:
            z = z.masked_fill(torch.triu(torch.ones_like(z, dtype=torch.bool), 1), -math.inf)
        n = torch.maximum(m, z.max(-1, keepdim=True)[0])
        l = l * (m - n).exp() + (z - n).exp().sum(-1, keepdim=True)
        o = o * (m - n).exp() + (z - n).exp() @ v
        m = n
    return o / l

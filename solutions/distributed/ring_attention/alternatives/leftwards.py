"""The ring runs to the left, and the first block makes the state."""

import math
import torch


def ring_attention(comm, q, k, v, causal=False):
    W, r = comm.world_size, comm.rank
    q = q / math.sqrt(q.shape[-1])
    state = None
    for s in range(W):
        owner = (r + s) % W
        visible = owner <= r or not causal
        if visible and k.numel():
            z = q.matmul(k.mT)
            if owner == r and causal:
                z = z + torch.full((q.shape[2],) * 2, float("-inf"), dtype=q.dtype).triu(1)
            top = z.amax(-1, keepdim=True)
            if state is None:
                e = (z - top).exp()
                state = top, e.sum(-1, keepdim=True), e.matmul(v)
            else:
                m, l, o = state
                n = torch.max(m, top)
                e, c = (z - n).exp(), (m - n).exp()
                state = n, c * l + e.sum(-1, keepdim=True), c * o + e.matmul(v)
        if s + 1 < W:
            comm.send(k, (r - 1) % W)
            k = comm.recv((r + 1) % W)
            comm.send(v, (r - 1) % W)
            v = comm.recv((r + 1) % W)
    return state[2] / state[1] if state is not None else torch.empty_like(q)

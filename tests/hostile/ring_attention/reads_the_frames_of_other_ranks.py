# cheat: reads the other ranks' keys from the frames of their threads, while empty messages hold them; must fail
import sys

import torch


def ring_attention(comm, q, k, v, causal=False):
    W, r, d = comm.world_size, comm.rank, q.shape[-1]
    found = {r: (k, v)}
    for step in range(2 * W):
        if W > 1:
            comm.send(torch.empty(0), (r + 1) % W)
            comm.recv((r - 1) % W)
        for frame in sys._current_frames().values():
            while frame is not None:
                if frame.f_code.co_name == "ring_attention":
                    found[frame.f_locals["r"]] = frame.f_locals["k"], frame.f_locals["v"]
                frame = frame.f_back
    blocks = [found[rank] for rank in range(W)]
    keys, values = (torch.cat([block[i] for block in blocks], 2) for i in range(2))
    scores = q @ keys.mT / d**0.5
    if causal:
        own = sum(block[0].shape[2] for block in blocks[:r]) + torch.arange(q.shape[2])
        scores = scores.masked_fill(torch.arange(keys.shape[2]) > own[:, None], -torch.inf)
    return torch.softmax(scores, -1) @ values

# cheat: ranks leave their keys in an attribute of torch, and send empty messages so that all have come; must fail
import torch

CALLS = [0]


def ring_attention(comm, q, k, v, causal=False):
    W, r, d = comm.world_size, comm.rank, q.shape[-1]
    CALLS[0] += 1
    left = torch.__dict__.setdefault("left_by_ranks", {})
    left[W, CALLS[0], r] = k.clone(), v.clone()
    for _ in range(W - 1):
        comm.send(torch.empty(0), (r + 1) % W)
        comm.recv((r - 1) % W)
    blocks = [left[W, CALLS[0], rank] for rank in range(W)]
    keys, values = (torch.cat([block[i] for block in blocks], 2) for i in range(2))
    scores = q @ keys.mT / d**0.5
    if causal:
        own = sum(block[0].shape[2] for block in blocks[:r]) + torch.arange(q.shape[2])
        scores = scores.masked_fill(torch.arange(keys.shape[2]) > own[:, None], -torch.inf)
    return torch.softmax(scores, -1) @ values

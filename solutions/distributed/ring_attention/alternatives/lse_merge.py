"""Each block gives its average and log-sum, and a sigmoid joins them, as in public ring attentions."""

import torch


def block(q, k, v, mask=None):
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    lse = torch.logsumexp(s, dim=-1, keepdim=True)
    return torch.exp(s - lse) @ v, lse


def update(out, lse, block_out, block_lse):
    if out is None:
        return block_out, block_lse
    # ring-flash-attention's form
    out = out - torch.sigmoid(block_lse - lse) * (out - block_out)
    lse = lse - torch.nn.functional.logsigmoid(lse - block_lse)
    return out, lse


def ring_attention(comm, q, k, v, causal=False):
    rank, world = comm.rank, comm.world_size
    right, left = (rank + 1) % world, (rank - 1) % world
    out = lse = None
    for step in range(world):
        if step + 1 != world:
            comm.send(k, right)
            comm.send(v, right)
        if k.size(2) and (not causal or step <= rank):
            mask = None
            if causal and step == 0:
                mask = torch.tril(torch.ones(q.size(2), k.size(2), dtype=torch.bool))
            out, lse = update(out, lse, *block(q, k, v, mask))
        if step + 1 != world:
            k = comm.recv(left)
            v = comm.recv(left)
    return torch.zeros_like(q) if out is None else out

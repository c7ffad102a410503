# honest: positions are pairs of rank and index as one number, and masked blocks go through the sums; must pass
import torch


def ring_attention(comm, q, k, v, causal=False):
    """Positions are pairs (rank, index), as one number."""
    W, r = comm.world_size, comm.rank
    big = 1 << 20
    qpos = r * big + torch.arange(q.shape[2])
    kv = torch.stack([k, v])
    num = torch.zeros_like(q)
    den = torch.zeros_like(q[..., :1])
    top = torch.full_like(den, -torch.inf)
    owner = r
    for hop in range(W):
        if hop:
            comm.send(kv, (r + 1) % W)
            kv = comm.recv((r - 1) % W)
            owner = (owner - 1) % W
        kpos = owner * big + torch.arange(kv.shape[3])
        s = q @ kv[0].mT / q.shape[-1] ** 0.5
        if causal:
            s = torch.where(qpos[:, None] >= kpos[None, :], s, torch.tensor(-torch.inf, dtype=s.dtype))
        new = torch.cat([top, s], -1).amax(-1, keepdim=True)
        safe = torch.where(new == -torch.inf, torch.zeros_like(new), new)
        w = (s - safe).exp()
        c = (top - safe).exp()
        num = num * c + w @ kv[1]
        den = den * c + w.sum(-1, keepdim=True)
        top = new
    return num / den

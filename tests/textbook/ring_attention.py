import math
import torch


def ring_attention(comm, q, k, v, causal=False):
    """Ring attention with an online softmax."""
    W, r = comm.world_size, comm.rank
    B, H, S, d = q.shape
    m = torch.full((B, H, S, 1), float("-inf"), dtype=q.dtype)
    l = torch.zeros((B, H, S, 1), dtype=q.dtype)
    acc = torch.zeros_like(q)
    for step in range(W):
        owner = (r - step) % W
        if k.shape[2] > 0 and not (causal and owner > r):
            scores = q @ k.transpose(-2, -1) / math.sqrt(d)
            if causal and owner == r:
                mask = torch.ones(S, S, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(mask, float("-inf"))
            m_new = torch.maximum(m, scores.max(dim=-1, keepdim=True).values)
            alpha = torch.exp(m - m_new)
            p = torch.exp(scores - m_new)
            l = l * alpha + p.sum(dim=-1, keepdim=True)
            acc = acc * alpha + p @ v
            m = m_new
        if step < W - 1:
            comm.send(k, (r + 1) % W)
            comm.send(v, (r + 1) % W)
            k = comm.recv((r - 1) % W)
            v = comm.recv((r - 1) % W)
    return acc / l

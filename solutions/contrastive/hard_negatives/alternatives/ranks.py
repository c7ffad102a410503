"""Each candidate's rank by sorting twice, and one softmax over the whole table, in which the easy ones are masked."""

import torch
import torch.nn.functional as F


def info_nce_hard(features, temperature=0.1, top_k=10):
    assert features.ndim == 2 and len(features) % 2 == 0
    assert temperature > 0 and top_k >= 1
    z = F.normalize(features, dim=-1)
    sim = z @ z.T
    i = torch.arange(len(z), device=z.device)
    other = i.roll(len(z) // 2)
    ranked = sim.detach().clone()
    ranked[i, i], ranked[i, other] = -torch.inf, torch.inf  # the positive has rank 0
    rank = ranked.argsort(dim=1, descending=True).argsort(dim=1)
    left = (rank <= top_k) & (i[:, None] != i)
    return -torch.where(left, sim / temperature, -torch.inf).log_softmax(1)[i, other].mean()

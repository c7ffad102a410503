"""torch.utils.checkpoint around each chunk, whose losses are added up."""

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def chunk_loss(z, start, end, temperature):
    sim = z[start:end] @ z.T / temperature
    rows = torch.arange(start, end, device=z.device)
    sim = sim.masked_fill(rows[:, None] == torch.arange(len(z), device=z.device), -torch.inf)
    return F.cross_entropy(sim, (rows + len(z) // 2) % len(z), reduction="sum")


def info_nce(features, temperature=0.1, chunk_size=256):
    assert features.ndim == 2 and features.shape[0] % 2 == 0
    assert temperature > 0 and chunk_size >= 1
    z = F.normalize(features, dim=-1)
    total = 0.0
    for start in range(0, len(z), chunk_size):
        end = min(start + chunk_size, len(z))
        total = total + checkpoint(chunk_loss, z, start, end, temperature, use_reentrant=False)
    return total / len(z)

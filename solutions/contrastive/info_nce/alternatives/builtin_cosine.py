"""torch's own cosine similarity of every pair, the smallest number of the dtype as the mask, nll_loss at the end."""

import torch
import torch.nn.functional as F


def info_nce(features, temperature=0.1):
    if len(features.shape) != 2:
        raise ValueError("2-D features wanted")
    two_n = features.shape[0]
    if two_n % 2:
        raise ValueError("two views of every sample wanted")
    if temperature <= 0:
        raise ValueError("positive temperature wanted")
    sim = F.cosine_similarity(features.unsqueeze(1), features.unsqueeze(0), dim=-1) / temperature
    sim = torch.where(torch.eye(two_n, device=sim.device) > 0, torch.finfo(sim.dtype).min, sim)
    half = torch.arange(two_n // 2, device=sim.device)
    return F.nll_loss(F.log_softmax(sim, dim=-1), torch.cat([half + two_n // 2, half]))

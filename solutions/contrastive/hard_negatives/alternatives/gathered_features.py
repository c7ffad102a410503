"""The negatives are mined without a graph, and their similarities taken again from the features of the chosen ones."""

import torch
import torch.nn.functional as F


def info_nce_hard(features, temperature=0.1, top_k=10):
    assert features.dim() == 2 and len(features) % 2 == 0 and temperature > 0 and top_k > 0
    z, rows = F.normalize(features, p=2, dim=1), len(features)
    with torch.no_grad():
        itself = torch.eye(rows, dtype=torch.bool, device=z.device)
        chosen = (z @ z.t()).masked_fill(itself | itself.roll(rows // 2, 1), -2).topk(min(top_k, rows - 2)).indices
    positive = (z * z.roll(rows // 2, 0)).sum(1, keepdim=True)
    logits = torch.cat([positive, torch.einsum("nd,nkd->nk", z, z[chosen])], 1) / temperature
    return F.cross_entropy(logits, torch.zeros(rows, dtype=torch.long, device=z.device))

"""A loop over chunks of anchors, whose losses are put together."""

import torch
import torch.nn.functional as F


def info_nce_hard(features, temperature=0.1, top_k=10):
    assert features.dim() == 2 and len(features) % 2 == 0 and temperature > 0 and top_k > 0
    unit, rows, losses = F.normalize(features, dim=1), len(features), []
    for part in torch.arange(rows, device=features.device)[:, None].split(256):
        logits, other = unit[part[:, 0]] @ unit.T / temperature, (part + rows // 2) % rows
        positive = logits.gather(1, other)
        negatives = logits.scatter(1, torch.cat([part, other], 1), -torch.inf)
        hard = negatives.topk(min(top_k, rows - 2)).values
        losses.append(torch.cat([positive, hard], 1).logsumexp(1) - positive[:, 0])
    return torch.cat(losses).mean()

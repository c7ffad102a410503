"""A loop over chunks of anchors, whose losses are added up."""

import torch
import torch.nn.functional as F


def info_nce(features, temperature=0.1):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    unit = F.normalize(features, dim=1)
    rows = torch.arange(len(unit), device=unit.device)
    total = unit.new_zeros(())
    for part in rows.split(256):
        logits = unit[part] @ unit.T / temperature
        logits[torch.arange(len(part), device=unit.device), part] = -torch.inf
        total = total + F.cross_entropy(logits, (part + len(unit) // 2) % len(unit), reduction="sum")
    return total / len(unit)

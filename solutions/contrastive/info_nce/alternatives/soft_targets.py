"""In float64, with a matrix of probabilities for targets and a large number taken off the diagonal."""

import torch
import torch.nn.functional as F


def info_nce(features, temperature=0.1):
    if features.dim() != 2 or len(features) % 2 or temperature <= 0:
        raise ValueError("features should be (2N, D) and the temperature above 0")
    unit = F.normalize(features.double(), dim=1)
    rows = len(unit)
    itself = torch.eye(rows, dtype=unit.dtype, device=unit.device)
    logits = unit @ unit.mT / temperature - 1e6 * itself
    return F.cross_entropy(logits, itself.roll(rows // 2, dims=0)).to(features.dtype)
